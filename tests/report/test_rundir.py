"""Names of run directories, the link to the last, and writes that a reader never sees half done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anabranch.report import rundir
from anabranch.report.rundir import RunDirError, create_run_directory


def test_first_free_number_and_link(tmp_path: Path) -> None:
    (tmp_path / "anabranch-out-1").mkdir()
    made = [create_run_directory(None, tmp_path).path.name for _ in range(3)]
    assert made == ["anabranch-out-0", "anabranch-out-2", "anabranch-out-3"]
    assert os.readlink(tmp_path / "anabranch-last") == "anabranch-out-3"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_directory_named_as_the_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "anabranch-last").mkdir()
    assert create_run_directory(None, tmp_path).path.is_dir()
    assert not (tmp_path / "anabranch-last").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["anabranch-last", "anabranch-out-0"]


def test_output_dir_must_not_exist(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "er"
    assert create_run_directory(target).path == target
    with pytest.raises(RunDirError, match="exists already"):
        create_run_directory(target)
    assert not (tmp_path / "deep" / "anabranch-last").exists()


def test_unwritable_places(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirError, match="cannot make"):
        create_run_directory(tmp_path / "file" / "out")
    with pytest.raises(RunDirError, match="cannot make"):
        create_run_directory(Path("/proc/nothing/out"))


def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = create_run_directory(tmp_path / "out")
    directory.write_text("run.json", "old")

    def refuse(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(rundir.os, "replace", refuse)
    with pytest.raises(RunDirError, match="no space left"):
        directory.write_text("run.json", "new")
    assert (directory.path / "run.json").read_text() == "old"


def test_text_that_is_no_unicode(tmp_path: Path) -> None:
    directory = create_run_directory(tmp_path / "out")
    directory.write_text("a", "x\udcff")
    log = directory.open_log("log")
    log.add("one \udcff")
    log.add("two")
    log.close()
    assert (directory.path / "log").read_text().splitlines() == ["one \\udcff", "two"]
