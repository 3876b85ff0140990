"""The command `anabranch cc`: a C compiler for unmodified builds; it can check the programs that it links."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from anabranch.cli.codes import ERRORS_FOUND, CommandError

CHECK = "ANABRANCH_CC_CHECK"
CHECK_FLAGS = "ANABRANCH_CC_CHECK_FLAGS"
_ON, _FATAL = ("1", "yes", "on", "warn"), "error"

_USAGE = """\
usage: CC="anabranch cc" ./configure && make
       CC="anabranch cc --check" make
       anabranch cc [--check[=error]] [FLAGS OF A C COMPILER] FILE...

Compiles and links as clang does (static programs on musl), and leaves beside every linked program `prog` its
whole-program bitcode `prog.bc` for anabranch run. Objects and archives carry their bitcode with them, so that
plain ar and ranlib do. Set ANABRANCH_CC_NATIVE_ONLY=1 to leave the bitcode out.

--check checks each program when it is linked, as anabranch check does, and tells what it finds like warnings
of a compiler, on standard error. The build goes on; with --check=error a link with reports fails. The same
by ANABRANCH_CC_CHECK=1 or =error; flags of anabranch check are taken from ANABRANCH_CC_CHECK_FLAGS, for
example "--baseline known.json --jobs 2".
"""


def main(argv: Sequence[str]) -> int:
    if list(argv) == ["--help"] or not argv:
        print(_USAGE, end="")
        return 0 if argv else 2
    from anabranch.native.tools import NativeError
    from anabranch.wrapper.driver import run

    words, wanted = _checking(argv)
    linked = None if not wanted else lambda bitcode: _check(bitcode, wanted == _FATAL)
    try:
        return run(words, linked)
    except NativeError as error:
        raise CommandError(f"cc: {error}", 1) from error


def _checking(argv: Sequence[str]) -> tuple[list[str], str]:
    """The words of the compiler, and whether programs are checked: "", "warn" or "error"."""
    words = [word for word in argv if word != "--check" and not word.startswith("--check=")]
    chosen = os.environ.get(CHECK, "").lower()
    for word in argv:
        if word == "--check" or word.startswith("--check="):
            chosen = word.partition("=")[2] or "warn"
    if chosen in ("", "0", "no", "off"):
        return words, ""
    if chosen != _FATAL and chosen not in _ON:
        raise CommandError(f"cc: --check={chosen}: say --check or --check=error (or {CHECK}=1 or error)")
    return words, _FATAL if chosen == _FATAL else "warn"


def _check(bitcode: Path, fatal: bool) -> int:
    """Check a program that was linked. Whatever goes wrong here, the program has been built."""
    from anabranch.cli import check

    flags = ["--format", "gcc", "--quiet", *(["--fail-on-error"] if fatal else [])]
    try:
        code = check.main([*flags, *shlex.split(os.environ.get(CHECK_FLAGS, "")), str(bitcode)])
    except (CommandError, ValueError) as error:
        message = str(error).strip().partition("\n")[0]
        print(f"anabranch cc: {bitcode}: not checked: {message}", file=sys.stderr)
        return 0
    if code == ERRORS_FOUND:
        name = bitcode.name.removesuffix(".bc")
        print(f"anabranch cc: error: {name} is not linked, because of the reports above", file=sys.stderr)
    return code
