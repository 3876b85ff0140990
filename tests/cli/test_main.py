"""The command as a user meets it, with a front end and an engine that stand in for the real ones."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from anabranch.cli.main import main
from anabranch.report.errors import ErrorRecord
from anabranch.report.events import InputRecord, Listener, Progress, TestCase
from anabranch.report.ktest import encode
from anabranch.report.result import CheckSites, Coverage, Ratio, RunResult, Unexplored
from anabranch.report.stats import StatsRow
from bench.lib.run_directory import read_run

Explore = Callable[[Any, Any, Listener], RunResult]


class FakeFrontendError(Exception):
    pass


def good_run(program: Any, settings: Any, listener: Listener) -> RunResult:
    """One normal path and one failing assertion."""
    listener.on_test(TestCase((InputRecord("x", b"\0\0\0\0"),)))
    number = listener.on_test(TestCase((InputRecord("x", b"\7\0\0\0"),), end="error", kind="assert"))
    error = ErrorRecord("assert", "ASSERTION FAIL: x != 7", "/s/a.c", 9, function="main", test=number)
    listener.on_error(error)
    listener.on_stats(StatsRow(instructions=12))
    listener.on_progress(Progress(0.1, paths_total=2))
    result = RunResult(complete=True, paths_exit=1, paths_error=1, paths_total=2, tests=2, errors=[error])
    result.coverage = Coverage(Ratio(9, 10), Ratio(3, 4))
    return result


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Explore], None]:
    """Stand-ins for the front end and, when called, for the exploration; in an empty current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    frontend = ModuleType("anabranch.frontend")

    def load_program(inputs: Any, options: Any) -> Any:
        if "BROKEN" in options.defines:
            raise FakeFrontendError("a.c:1:1: error: broken\n1 error generated.\n")
        return SimpleNamespace(ir_text="; the program\n", libc="none", library_reason="")

    stand_ins = {
        "FrontendError": FakeFrontendError,
        "FrontendOptions": lambda **fields: SimpleNamespace(**fields),
        "load_program": load_program,
    }
    for name, value in stand_ins.items():
        setattr(frontend, name, value)
    monkeypatch.setitem(sys.modules, "anabranch.frontend", frontend)

    def install(explore: Explore) -> None:
        module = ModuleType("anabranch.explore.engine")

        def with_log_dir(
            program: Any, settings: Any, listener: Any, log_dir: Path, _: Any, started: float
        ) -> RunResult:
            assert log_dir.is_dir()
            assert started < time.monotonic()
            return explore(program, settings, listener)

        module.explore = with_log_dir  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "anabranch.explore.engine", module)
        setup = ModuleType("anabranch.reduce.setup")
        setup.reductions = lambda settings: None  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "anabranch.reduce.setup", setup)

    install(good_run)
    return install


def test_a_run_from_start_to_end(engine: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "a.c", "--seed", "3", "--emit-ir", "out.ll"]) == 0
    out, err = capsys.readouterr()
    assert "Complete: explored every path, 2 paths (1 ended normally, 1 ended in an error)" in out
    assert "Covered 9 of 10 lines (90%) and 3 of 4 branch directions (75%)." in out
    assert "/s/a.c:9 in main: ASSERTION FAIL: x != 7 [assert]" in out
    assert "Wrote 2 tests to anabranch-out-0." in out
    assert "anabranch show-test anabranch-last/test000002.ktest" in out
    assert "less anabranch-last/test000002.assert.err" in out
    assert "ERROR: /s/a.c:9: ASSERTION FAIL: x != 7 (test000002)" in err
    assert (tmp_path / "anabranch-last" / "test000002.assert.err").is_file()
    assert (tmp_path / "anabranch-last" / "assembly.ll").read_text() == "; the program\n"
    assert (tmp_path / "out.ll").read_text() == "; the program\n"
    data = read_run(tmp_path / "anabranch-last")
    assert data.complete
    assert data.run["settings"]["seed"] == 3
    assert data.run["timers"].keys() >= {"frontend", "total"}
    assert data.info.startswith("anabranch run a.c --seed 3 --emit-ir out.ll\n")


def test_json_is_all_there_is_on_standard_output(engine: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "a.c", "--json", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == json.loads(Path("anabranch-last/run.json").read_text())
    assert err == ""


def test_quiet_says_nothing(engine: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-q", "a.c"]) == 0
    assert capsys.readouterr() == ("", "")


def test_errors_are_results_unless_asked(engine: object) -> None:
    assert main(["run", "-q", "a.c"]) == 0
    assert main(["run", "-q", "--fail-on-error", "a.c"]) == 1


def test_compile_errors_are_shown_as_they_are(engine: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "a.c", "-DBROKEN"]) == 2
    assert capsys.readouterr() == ("", "a.c:1:1: error: broken\n1 error generated.\n")
    assert not Path("anabranch-out-0").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "absent.c"], "absent.c: no such file"),
        (["run", "."], "is a directory"),
        (["run", "a.c", "--search", "x"], "--search: 'x' is unknown"),
        (["run"], "no program given"),
        (["run", "a.c", "--output-dir", "a.c"], "exists already"),
        (["run", "a.c", "--output-dir", "/proc/none/out"], "cannot make the output directory"),
        (["run", "a.c", "--emit-ir", "/proc/none/x.ll"], "--emit-ir: cannot write"),
        (["rnu", "a.c"], "rnu is not a command; did you mean run?"),
        (["a.c"], "did you mean anabranch run a.c?"),
        (["show-test"], "no test given"),
        (["show-test", "--bad"], "unknown flag --bad"),
        (["show-test", "absent.ktest"], "absent.ktest: no such file"),
        (["show-test", "a.c"], "a.c: not a ktest file"),
    ],
)
def test_wrong_use(
    engine: object, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("anabranch: ")
    assert message in err
    assert err.count("\n") == 1


def test_ctrl_c_keeps_what_was_found(
    engine: Callable[[Explore], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def broken_off(program: Any, settings: Any, listener: Listener) -> RunResult:
        good_run(program, settings, listener)
        raise KeyboardInterrupt

    engine(broken_off)
    assert main(["run", "a.c"]) == 130
    assert "Not complete, stopped by Ctrl-C: explored 2 paths" in capsys.readouterr().out
    data = read_run(Path("anabranch-last"))
    assert data.finished
    assert not data.complete
    assert data.run["losses"].keys() == {"interrupted"}
    assert (data.run["stopped"], data.run["tests"], len(data.run["errors"])) == ("interrupted", 2, 1)


def test_sigterm_keeps_what_was_found(engine: Callable[[Explore], None]) -> None:
    def terminated(program: Any, settings: Any, listener: Listener) -> RunResult:
        good_run(program, settings, listener)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
        raise AssertionError("the signal did not arrive")

    before = signal.getsignal(signal.SIGTERM)
    engine(terminated)
    assert main(["run", "-q", "a.c"]) == 143
    assert signal.getsignal(signal.SIGTERM) is before
    assert read_run(Path("anabranch-last")).run["stopped"] == "terminated"


def test_results_that_cannot_be_written(
    engine: Callable[[Explore], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def loses_its_directory(program: Any, settings: Any, listener: Listener) -> RunResult:
        shutil.rmtree("anabranch-out-0")
        return good_run(program, settings, listener)

    engine(loses_its_directory)
    assert main(["run", "a.c"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "anabranch: run: cannot write anabranch-out-0/test000001.ktest: no such file or directory\n"


def test_an_engine_that_stops_by_itself(engine: Callable[[Explore], None]) -> None:
    for stopped, code in (("interrupted", 130), ("terminated", 143), ("max-time", 0)):
        engine(lambda program, settings, listener, why=stopped: RunResult(stopped=why))
        assert main(["run", "-q", "a.c"]) == code


def test_an_internal_problem_is_one_line(
    engine: Callable[[Explore], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(program: Any, settings: Any, listener: Listener) -> RunResult:
        raise RuntimeError("first line\nsecond line")

    engine(fails)
    assert main(["run", "a.c"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    log = Path("anabranch-out-0/anabranch-crash.log")
    assert err == f"anabranch: internal problem: RuntimeError: first line (details are in {log})\n"
    assert "Traceback" in log.read_text()
    assert not read_run(Path("anabranch-out-0")).finished


def test_a_path_lost_to_the_engine_is_an_internal_problem(
    engine: Callable[[Explore], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def loses(program: Any, settings: Any, listener: Listener) -> RunResult:
        for _ in range(3):
            listener.on_defect("Traceback of a lost path")
        result = RunResult(complete=True, paths_exit=1, paths_total=4, defects=3)
        result.lose("internal error: KeyError", "a.c:4", 3)
        return result

    engine(loses)
    assert main(["run", "a.c"]) == 3
    out, err = capsys.readouterr()
    assert (
        err.count("a path was lost to a failure of the engine itself (details in anabranch-crash.log)") == 1
    )
    assert "Not complete: explored 4 paths" in out
    assert "  3 x internal error: KeyError, most often at a.c:4" in out
    log = Path("anabranch-out-0/anabranch-crash.log").read_text()
    assert log.count("Traceback of a lost path") == 1
    assert "'run', 'a.c'" in log
    run = read_run(Path("anabranch-out-0"))
    assert run.finished and not run.complete


def test_checks_and_what_lies_behind_errors_are_told(
    engine: Callable[[Explore], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(program: Any, settings: Any, listener: Listener) -> RunResult:
        result = good_run(program, settings, listener)
        here = str(Path("a.c").resolve())
        result.unexplored = [
            Unexplored("main", {here: (4, 5, 6, 9)}),
            Unexplored("f", {"/s/b.c": (2,)}, True),
        ]
        result.checks = [CheckSites("memory", ("wild-pointer",), 3, 1204), CheckSites("division", ())]
        return result

    engine(fails)
    assert main(["run", "a.c"]) == 0
    out = capsys.readouterr().out
    assert "Complete: explored every path to its end or to an error, 2 paths" in out
    assert (
        "Not explored, because paths ended in an error before they got there:\n"
        "  a.c:4-6, 9 in main\n"
        "  /s/b.c:2 in f, which was never entered\n"
    ) in out
    assert "Checks made, by places reached: memory 3 of 1,204; nothing to check for division.\n" in out
    document = read_run(Path("anabranch-out-0")).run
    assert document["complete"]
    assert document["unexplored_behind_errors"]["f"] == {"never_entered": True, "lines": {"/s/b.c": [2]}}
    assert document["checks"]["memory"]["places"] == {"reached": 3, "not_reached": 1201}


def test_losses_are_told(engine: Callable[[Explore], None], capsys: pytest.CaptureFixture[str]) -> None:
    def loses(program: Any, settings: Any, listener: Listener) -> RunResult:
        result = RunResult(complete=True, paths_exit=3, paths_total=3, paths_left=2, stopped="max-time")
        result.lose("unsupported: fence", "a.c:4", 2)
        return result

    engine(loses)
    assert main(["run", "a.c"]) == 0
    out = capsys.readouterr().out
    assert "Not complete, stopped by --max-time: explored 3 paths (3 ended normally)" in out
    assert ", and left 2 waiting states.\n" in out
    assert "  2 x unsupported: fence, most often at a.c:4" in out
    assert "No error found on the paths explored." in out


def test_show_test(engine: object, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.ktest").write_bytes(encode([("n", b"\xff\xff\xff\xff"), ("text", b"ab\0")], ["a.c"]))
    assert main(["show-test", "t.ktest"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ktest file : 't.ktest'",
        "args       : ['a.c']",
        "num objects: 2",
        "object 0: name: 'n'",
        "object 0: size: 4",
        "object 0: data: b'\\xff\\xff\\xff\\xff'",
        "object 0: hex : 0xffffffff",
        "object 0: int : -1",
        "object 0: uint: 4294967295",
        "object 0: text: ....",
        "object 1: name: 'text'",
        "object 1: size: 3",
        "object 1: data: b'ab\\x00'",
        "object 1: hex : 0x616200",
        "object 1: text: ab.",
    ]


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert main(["--help"]) == 0
    assert main(["run", "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("anabranch 0.")
    assert "show-test" in out
    assert "--max-solver-time TIME" in out
    assert main([]) == 2


def test_start_up_imports_little() -> None:
    """Help and wrong flags answer without loading what only a run needs."""
    script = (
        "import sys; from anabranch.cli.main import main; main(['run', 'absent.c']);"
        "print([m for m in ('rich', 'llvmlite', 'z3', 'bitwuzla') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == "[]\n"


def test_a_run_loads_no_solver_that_it_does_not_use() -> None:
    script = (
        "import sys, anabranch.explore.engine, anabranch.reduce.setup;"
        "print([m for m in ('z3', 'pysat', 'pysolvers') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == "[]\n"


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = f"{sys.executable} -m anabranch.cli.main run --help | head -c 1"
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, env=environment, check=True, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("u", "")


def test_help_after_the_dashes_is_the_program_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "missing.c"), "--", "--help"]) == 2
    assert "no such file" in capsys.readouterr().err
