"""The command `anabranch`: finds the command asked for, and turns every failure into a line and a code."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from anabranch import __version__
from anabranch.cli.codes import INTERNAL, INTERRUPTED, OK, USAGE, CommandError
from anabranch.report.rundir import CRASH_LOG

#: command -> (module with `main(argv) -> int`, what it does)
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("anabranch.cli.run", "explore a program; write tests and errors"),
    "unit": ("anabranch.cli.unit", "explore functions by themselves; write a harness for every error"),
    "check": ("anabranch.cli.check", "check functions without running them; report errors with their origin"),
    "tune": ("anabranch.cli.tune", "find out how the queries of your programs are decided quickest"),
    "replay": ("anabranch.cli.replay", "run the tests of a run natively; compare, measure coverage"),
    "cc": ("anabranch.cli.cc", "compile C natively, with whole-program bitcode beside each program"),
    "show-test": ("anabranch.cli.show_test", "print test inputs (.ktest files) readably"),
}


def _usage() -> str:
    commands = "\n".join(f"  {name:<12}{text}" for name, (_, text) in COMMANDS.items())
    return (
        "usage: anabranch COMMAND [ARGUMENTS]\n\n"
        "A symbolic execution engine for C and LLVM IR.\n\n"
        f"Commands:\n{commands}\n\n"
        "  anabranch run prog.c        explore all paths of a program\n"
        "  anabranch COMMAND --help    flags of a command\n"
        "  anabranch --version         version\n"
    )


def _find(argv: Sequence[str]) -> Callable[[Sequence[str]], int]:
    name = argv[0]
    entry = COMMANDS.get(name)
    if entry is None:
        from anabranch.values import suggestion

        if name.endswith((".c", ".bc", ".ll", ".i")):
            raise CommandError(f"{name} is not a command; did you mean anabranch run {name}?")
        hint = suggestion(name, list(COMMANDS)) or f"; commands are {', '.join(COMMANDS)}"
        raise CommandError(f"{name} is not a command{hint}")
    command: Callable[[Sequence[str]], int] = importlib.import_module(entry[0]).main
    return command


def _dispatch(argv: Sequence[str]) -> int:
    if not argv:
        sys.stderr.write(_usage())
        return USAGE
    if argv[0] in ("-h", "--help", "help"):
        sys.stdout.write(_usage())
        return OK
    if argv[0] in ("-V", "--version"):
        print(f"anabranch {__version__}")
        return OK
    return _find(argv)(argv[1:])


def _write_crash_log(error: BaseException, argv: Sequence[str]) -> Path | None:
    """Keep the traceback in the directory of the run, here, or in the temporary directory."""
    text = f"anabranch {__version__}, Python {sys.version}\n{list(argv)}\n\n"
    text += "".join(traceback.format_exception(error))
    run_directory = getattr(error, "run_directory", None)
    places = [Path(run_directory)] if run_directory is not None else []
    for place in [*places, Path(), Path(tempfile.gettempdir())]:
        try:
            # The directory of a run may have the log of paths that were lost before.
            with open(place / CRASH_LOG, "a" if place in places else "w", encoding="utf-8") as log:
                log.write(text.encode("utf-8", "backslashreplace").decode("utf-8"))
        except OSError:
            continue
        return place / CRASH_LOG
    return None


def _report_crash(error: BaseException, argv: Sequence[str]) -> int:
    log = _write_crash_log(error, argv)
    first = (str(error).strip().splitlines() or [""])[0]
    what = type(error).__name__ + (f": {first}" if first else "")
    where = f"details are in {log}" if log is not None else "no place to write details to"
    print(f"anabranch: internal problem: {what[:200]} ({where})", file=sys.stderr)
    return INTERNAL


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code and lets no exception out."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except CommandError as error:
        print(f"anabranch: {error}" if error.prefix else str(error), file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("anabranch: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away; nothing is left to say, also not at interpreter exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except SystemExit as exit:
        return exit.code if isinstance(exit.code, int) else OK
    except Exception as error:
        return _report_crash(error, arguments)
    return code


def command() -> NoReturn:
    """The whole process. It ends at once: to take down what a large run holds piece by piece takes long."""
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    command()
