"""A program that attacks its machine changes nothing of the host."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine.harness import run_files

HOSTILE = Path(__file__).parent / "programs" / "hostile.c"
MARK = "anabranch-victim"


def test_nothing_of_the_host_changes(tmp_path: Path) -> None:
    victim = tmp_path / MARK
    victim.write_text("precious")
    victim.chmod(0o640)
    before, mask = victim.stat(), os.umask(0o022)
    os.umask(mask)
    here = os.getcwd()
    outcome = run_files([HOSTILE], f'-DVICTIM="{victim}"')
    assert [test.exit_code for test in outcome.collector.tests] == [0]
    assert victim.read_text() == "precious"
    after = victim.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ino) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_ino,
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [MARK]
    assert os.getcwd() == here
    assert os.umask(mask) == mask
    assert {"unmodelled system call fork", "unmodelled system call socket"} <= set(outcome.losses())


def trace(directory: Path, name: str, *flags: str) -> list[str]:
    """The system calls of the whole engine while it explores the program."""
    log = directory / f"{name}.trace"
    out = directory / f"{name}.out"
    command = [
        "strace", "-f", "-qq", "-s", "300", "-o", str(log), sys.executable, "-m", "anabranch.cli.main", "run",
        "--quiet", "--output-dir", str(out), str(HOSTILE), *flags,
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=600)
    return log.read_text(errors="replace").splitlines()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_engine_makes_none_of_the_calls(tmp_path: Path) -> None:
    flags = (f'-DVICTIM="/tmp/{MARK}"',)
    trace(tmp_path, "compiles", *flags)
    trace(tmp_path, "compiles-harmless", *flags, "-DHARMLESS")
    hostile = trace(tmp_path, "hostile", *flags)
    harmless = trace(tmp_path, "harmless", *flags, "-DHARMLESS")
    assert len(hostile) > 100
    # The name is written into results, but nothing is done to the file.
    touched = [
        line for line in hostile if f"/tmp/{MARK}" in line and not re.search(r"\b(write|execve|read)\(", line)
    ]
    assert not touched
    calls = (
        "connect kill tkill socket reboot chmod truncate symlink fork vfork clone clone3 execve umask chdir"
    )
    for call in calls.split():
        made = [sum(bool(re.search(rf"\b{call}\(", line)) for line in lines) for lines in (hostile, harmless)]
        assert made[0] == made[1], call
