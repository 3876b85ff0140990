"""The command `anabranch cc`: a C compiler for unmodified builds."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.cli.codes import CommandError

_USAGE = """\
usage: CC="anabranch cc" ./configure && make
       anabranch cc [FLAGS OF A C COMPILER] FILE...

Compiles and links as clang does (static programs on musl), and leaves beside every linked program `prog` its
whole-program bitcode `prog.bc` for anabranch run. Objects and archives carry their bitcode with them, so that
plain ar and ranlib do. Set ANABRANCH_CC_NATIVE_ONLY=1 to leave the bitcode out.
"""


def main(argv: Sequence[str]) -> int:
    if list(argv) == ["--help"] or not argv:
        print(_USAGE, end="")
        return 0 if argv else 2
    from anabranch.native.tools import NativeError
    from anabranch.wrapper.driver import run

    try:
        return run(argv)
    except NativeError as error:
        raise CommandError(f"cc: {error}", 1) from error
