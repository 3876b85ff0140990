"""Bad input: malformed programs and command lines, unwritable places, signals in mid-run.

Each has to end with a clear message, the right exit code and no traceback; a run that is killed leaves only
whole files, which can be read. Exit code 1 if an answer is not clean.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.bad_cases import CASES, GOOD, BadCase
from bench.lib.engine import Called, EngineFailure, call_engine, start_fresh
from bench.lib.ktest import KTestError, read_ktest
from bench.lib.run_directory import read_run
from bench.lib.subjects import find
from bench.lib.table import print_table

TIME_LIMIT = 60.0


@dataclass
class Answer:
    name: str
    code: int = -1
    message: str = ""
    problems: list[str] = field(default_factory=list)


def judge(case: BadCase, called: Called) -> Answer:
    text = called.stderr.strip()
    answer = Answer(case.name, called.code, text.split("\n")[0] if text else "")
    if called.code not in case.codes:
        answer.problems.append(f"exit code {called.code}, expected {' or '.join(map(str, case.codes))}")
    for sign in ("Traceback", "internal problem", "LLVM ERROR", "Stack dump", "core dumped"):
        if sign in called.stderr or sign in called.stdout:
            answer.problems.append(f"prints {sign!r}: {text[-300:]}")
    if called.code != 0 and not text:
        answer.problems.append("no message")
    if called.code != 0 and not case.long and text.count("\n"):
        answer.problems.append(f"{text.count(chr(10)) + 1} lines: {text[:300]}")
    if called.code != 0 and case.words and not re.search(case.words, text):
        answer.problems.append(f"the message does not say {case.words!r}: {text[:300]}")
    return answer


def check_case(case: BadCase) -> Answer:
    with tempfile.TemporaryDirectory(prefix="anabranch-bad-") as scratch:
        directory = Path(scratch)
        (directory / "in").mkdir()
        try:
            arguments = case.make(directory / "in")
            return judge(case, call_engine(arguments, directory, TIME_LIMIT, fresh=True))
        except EngineFailure as failure:
            return Answer(case.name, problems=[str(failure)])


def signalled(number: signal.Signals, codes: tuple[int, ...]) -> Answer:
    """Send a signal to a run that has written some tests, then read its directory."""
    answer = Answer(f"{number.name} in mid-run")
    with tempfile.TemporaryDirectory(prefix="anabranch-bad-") as scratch:
        directory = Path(scratch)
        target = directory / "out"
        arguments = ["run", str(find("regexp.c", None)), "-DSIZE=12", "--tests", "all", "--quiet"]
        child = start_fresh(
            [*arguments, "--output-dir", str(target)], directory / "out.txt", directory / "err.txt"
        )
        deadline = time.monotonic() + TIME_LIMIT
        while len(list(target.glob("*.ktest"))) < 50:
            if time.monotonic() > deadline:
                answer.problems.append("no 50 tests in a minute")
                break
            time.sleep(0.01)
        os.kill(child, number)
        answer.code = _wait(child, answer)
        if answer.code not in codes:
            answer.problems.append(f"exit code {answer.code}, expected {codes}")
        said = (directory / "err.txt").read_text(errors="replace")
        if "Traceback" in said or "internal problem" in said:
            answer.problems.append(said[-300:])
        _read_back(target, answer, finished=number != signal.SIGKILL)
    return answer


def _wait(child: int, answer: Answer) -> int:
    deadline = time.monotonic() + TIME_LIMIT
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    answer.problems.append("does not end after the signal")
    return -1


def _read_back(target: Path, answer: Answer, finished: bool) -> None:
    """Every file of the directory is whole."""
    tests = sorted(target.glob("*.ktest"))
    answer.message = f"{len(tests)} tests read back"
    for path in tests:
        try:
            read_ktest(path)
        except KTestError as error:
            answer.problems.append(f"{path.name}: {error}")
    try:
        run = json.loads((target / "run.json").read_text())
        if run["complete"]:
            answer.problems.append("run.json says complete")
        if run["finished"] != finished:
            answer.problems.append(f"run.json says finished: {run['finished']}")
    except (OSError, ValueError, KeyError) as error:
        answer.problems.append(f"run.json: {error}")
    for number, line in enumerate((target / "tests.jsonl").read_text().splitlines(), 1):
        try:
            json.loads(line)
        except ValueError:
            answer.problems.append(f"tests.jsonl, line {number} is not whole")
    data = read_run(target)
    answer.problems += [f"reader: {p}" for p in data.problems]
    if len(data.tests) != len(tests):
        answer.problems.append(f"the reader finds {len(data.tests)} tests of {len(tests)}")


def bad_cache() -> Answer:
    """A cache that cannot be written is no reason to fail."""
    answer = Answer("unwritable cache")
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = "/proc/nowhere"
    try:
        with tempfile.TemporaryDirectory(prefix="anabranch-bad-") as scratch:
            directory = Path(scratch)
            (directory / "good.c").write_text(GOOD)
            arguments = ["run", str(directory / "good.c"), "--quiet", "--output-dir", str(directory / "out")]
            called = call_engine(arguments, directory, TIME_LIMIT, fresh=True)
        return judge(BadCase(answer.name, lambda d: [], codes=(0,)), called)
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.bad_input", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", help="only cases whose name contains this")
    arguments = parser.parse_args(argv)
    wanted = arguments.only or ""
    answers = [check_case(case) for case in CASES if wanted in case.name]
    if not wanted:
        answers.append(bad_cache())
        answers.append(signalled(signal.SIGKILL, (-signal.SIGKILL,)))
        answers.append(signalled(signal.SIGTERM, (143,)))
        answers.append(signalled(signal.SIGINT, (130,)))
    print_table(
        ("input", "exit code", "first line of the message", "clean"),
        [(a.name, a.code, a.message[:70], not a.problems) for a in answers],
    )
    bad = [a for a in answers if a.problems]
    for answer in bad:
        for problem in answer.problems:
            print(f"{answer.name}: {problem}")
    print(f"{len(answers)} inputs, {len(bad)} not answered cleanly")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
