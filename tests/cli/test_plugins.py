"""Plugin files: those of docs/extending work as they are, together, and a bad one is a line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "docs" / "extending").glob("*.py"))
PROGRAM = """
int read_sensor(int channel);
int main(void) {
  int a = 0, b = 0, c = 0, high = 0;
  if (read_sensor(0) > 512) { a = 1; b = 2; c = 3; }
  for (int i = 0; i < SENSORS; i++) {
    if (read_sensor(i) > 1000) high++;
  }
  return a * high + b * high + c;
}
"""


def anabranch(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "anabranch.cli.main", *arguments],
        cwd=directory,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def plugins(*names: str) -> list[str]:
    return [word for name in names for word in ("--plugin", str(ROOT / "docs" / "extending" / f"{name}.py"))]


def explore(directory: Path, *flags: str, sensors: int = 5) -> dict[str, Any]:
    (directory / "prog.c").write_text(PROGRAM.replace("SENSORS", str(sensors)))
    done = anabranch(directory, "run", "prog.c", "--output-dir", "out", "--no-progress", *flags)
    assert done.returncode == 0, done.stderr
    run: dict[str, Any] = json.loads((directory / "out" / "run.json").read_text())
    return run


def test_the_examples_are_short_and_shown() -> None:
    text = (ROOT / "docs" / "extending.md").read_text()
    assert len(EXAMPLES) == 5
    for path in EXAMPLES:
        assert f"extending/{path.name}" in text
        assert len(path.read_text().splitlines()) <= 40


def test_one_of_each_kind_in_one_run(tmp_path: Path) -> None:
    every = plugins(*(path.stem for path in EXAMPLES))
    how = ("--search", "shallow-first", "--merge", "few-differences", "--merging", "dynamic")
    run = explore(tmp_path, *every, *how, sensors=60)
    assert run["complete"] is False and list(run["losses"]) == ["pruned: nothing new"]
    assert "shallow-first" in (tmp_path / "out" / "info").read_text()
    figures = run["reductions"]
    assert figures["merging"]["merges"] > 0
    assert figures["nothing new"]["dropped"] > 0
    log = (tmp_path / "paths.log").read_text().splitlines()
    assert log and all(line.startswith("exit after") for line in log)


def test_the_prune_serves_coverage_only(tmp_path: Path) -> None:
    run = explore(tmp_path, *plugins("nothing_new", "sensor"), "--goal", "paths", "--merge", "none")
    assert "nothing new" not in run["reductions"]
    assert run["paths"]["exit"] == 64
    assert "nothing new is not used" in (tmp_path / "out" / "warnings.txt").read_text()


def test_plugins_in_a_settings_file(tmp_path: Path) -> None:
    named = [str(ROOT / "docs" / "extending" / f"{name}.py") for name in ("sensor", "shallow_first")]
    (tmp_path / "anabranch.toml").write_text(
        f'[run]\nplugin = {json.dumps(named)}\nsearch = "shallow-first"\n'
    )
    explore(tmp_path)
    assert "shallow-first" in (tmp_path / "out" / "info").read_text()


def test_help_lists_what_a_plugin_adds(tmp_path: Path) -> None:
    done = anabranch(tmp_path, "run", *plugins("shallow_first", "few_differences"), "--help")
    text = " ".join(done.stdout.split())
    assert "shallow-first (fewest forks first)" in text
    assert "few-differences (where at most two live values differ)" in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "bad.py: no such file"),
        ("x = 1\ny = 1 / 0\n", "bad.py:2: ZeroDivisionError: division by zero"),
        ("def f(:\n", "bad.py: SyntaxError"),
        (
            "from anabranch.plugin import search_order\n"
            "@search_order('dfs', help='again')\nclass Again: pass\n",
            "two search orders are called dfs",
        ),
    ],
)
def test_a_bad_plugin_is_one_line(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "bad.py").write_text(content)
    (tmp_path / "prog.c").write_text("int main(void) { return 0; }\n")
    done = anabranch(tmp_path, "run", "prog.c", "--plugin", "bad.py")
    assert done.returncode == 2
    assert message in done.stderr and len(done.stderr.strip().splitlines()) == 1
