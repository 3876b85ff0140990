"""Random C programs by csmith, run concretely: the engine's checksum against the native one.

A program may end at the step limit (counted); any other loss, error or difference is a failure. Needs the
csmith generator and its headers (Debian: apt-get install csmith libcsmith-dev). Exit code 1 if a program
fails, 2 if csmith is not installed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.lib.engine import EngineFailure, run_engine
from bench.lib.native import NativeError, build, run_native
from bench.lib.table import print_table
from bench.lib.work import common_arguments, each, keep_failure

INCLUDE_DIRS = ("/usr/include/csmith", "/usr/local/include/csmith")
# No command line, so that main takes nothing; everything else as csmith does it.
OPTIONS = ("--no-argc",)
STEP_LIMIT = 5_000_000
NATIVE_SECONDS = 5.0


@dataclass
class Result:
    seed: int
    outcome: str = ""
    instructions: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


def include_dir() -> Path | None:
    return next((Path(d) for d in INCLUDE_DIRS if (Path(d) / "csmith.h").exists()), None)


def generate(seed: int, directory: Path) -> Path:
    source = directory / "program.c"
    command = ["csmith", "--seed", str(seed), *OPTIONS, "--output", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=directory, check=False)
    if done.returncode != 0 or not source.exists():
        raise NativeError(f"csmith --seed {seed}: {done.stderr.strip() or done.returncode}")
    return source


def native_output(source: Path, headers: Path, directory: Path) -> bytes | None:
    """What the program prints natively; None if it does not end in time."""
    flags = ("-O0", "-w", "-I", str(headers))
    done = run_native(build([source], directory / "native", flags=flags), time_limit=NATIVE_SECONDS)
    if done.timed_out:
        return None
    if done.code != 0:
        raise NativeError(f"native exit {done.code}, signal {done.signal}")
    return done.stdout


def check_seed(seed: int, keep: Path | None = None, steps: int = STEP_LIMIT) -> Result:
    result = Result(seed)
    start = time.monotonic()
    headers = include_dir()
    assert headers is not None
    with tempfile.TemporaryDirectory(prefix="anabranch-csmith-") as scratch:
        directory = Path(scratch)
        try:
            source = generate(seed, directory)
            expected = native_output(source, headers, directory)
            extra = ("-I", str(headers), "--max-instructions", str(steps))
            run = run_engine([source], directory, extra=extra, time_limit=600)
            result.instructions = int(run.run["instructions"])
            limited = run.run.get("stopped") == "max-instructions"
            others = {k: v for k, v in run.run["losses"].items() if k != "max-instructions"}
            if run.run["errors"]:
                error = run.run["errors"][0]
                result.problems.append(f"error {error['kind']} at line {error['line']}: {error['message']}")
            elif limited and not others:
                result.outcome = "step limit"
            elif others or not run.complete:
                result.problems.append(f"losses {others}")
            elif expected is None:
                result.problems.append("ends in the engine, natively not in time")
            elif len(run.tests) != 1 or run.tests[0].output != expected:
                printed = run.tests[0].output if run.tests else b""
                result.problems.append(f"printed {printed[-60:]!r}, natively {expected[-60:]!r}")
            else:
                result.outcome = "equal"
        except (EngineFailure, NativeError) as failure:
            result.problems.append(str(failure)[-1000:])
        if result.problems:
            result.outcome = "differs"
            if keep is not None:
                kept = keep_failure(directory, keep, f"csmith-{seed}", result.problems)
                result.problems.append(f"kept in {kept}")
    result.seconds = time.monotonic() - start
    return result


def missing() -> str | None:
    """What to install, if csmith cannot be used."""
    if shutil.which("csmith") is None or include_dir() is None:
        return "csmith is not installed (Debian: apt-get install csmith libcsmith-dev)"
    return None


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.csmith_run", description=__doc__)
    common_arguments(parser, 300)
    parser.set_defaults(first=1)
    parser.add_argument("--steps", type=int, default=STEP_LIMIT, metavar="N", help="instructions a program")
    arguments = parser.parse_args(argv)
    problem = missing()
    if problem is not None:
        print(problem, file=sys.stderr)
        return 2
    arguments.keep.mkdir(parents=True, exist_ok=True)
    seeds = range(arguments.first, arguments.first + arguments.count)
    results = []
    for result in each(
        partial(check_seed, keep=arguments.keep, steps=arguments.steps), seeds, arguments.jobs
    ):
        results.append(result)
        for text in result.problems:
            print(f"seed {result.seed}: {text[:400]}", flush=True)
    counts = {o: sum(1 for r in results if r.outcome == o) for o in ("equal", "step limit", "differs")}
    print_table(
        ("programs", "checksum equal", "step limit", "differ", "instructions", "seconds"),
        [
            (len(results), *counts.values(), sum(r.instructions for r in results),
             sum(r.seconds for r in results))
        ],
    )  # fmt: skip
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
