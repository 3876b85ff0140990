"""The command `anabranch show-test`: prints test inputs readably."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from anabranch.cli.codes import OK, USAGE, CommandError
from anabranch.report.ktest import KTest, KTestError, read_ktest

_USAGE = """\
usage: anabranch show-test FILE.ktest...

Print the inputs of tests: for every symbolic object its name, size and bytes, as text, as hexadecimal digits
and, for 1, 2, 4 and 8 bytes, as signed and unsigned number (least byte first).
"""


def _text(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def render(name: str, test: KTest) -> str:
    """The lines about one test."""
    lines = [
        f"ktest file : {name!r}",
        f"args       : {list(test.args)!r}",
        f"num objects: {len(test.objects)}",
    ]
    for index, (object_name, data) in enumerate(test.objects):
        rows = {
            "name": repr(object_name),
            "size": str(len(data)),
            "data": repr(data),
            "hex ": f"0x{data.hex()}",
        }
        if len(data) in (1, 2, 4, 8):
            rows["int "] = str(int.from_bytes(data, "little", signed=True))
            rows["uint"] = str(int.from_bytes(data, "little"))
        rows["text"] = _text(data)
        lines += [f"object {index}: {label}: {value}" for label, value in rows.items()]
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    if "-h" in argv or "--help" in argv:
        sys.stdout.write(_USAGE)
        return OK
    flags = [argument for argument in argv if argument.startswith("-")]
    if flags:
        raise CommandError(f"show-test: unknown flag {flags[0]}; see anabranch show-test --help")
    if not argv:
        raise CommandError(
            "show-test: no test given: name .ktest files, as in anabranch-last/test000001.ktest"
        )
    blocks, failures = [], []
    for name in argv:
        try:
            blocks.append(render(name, read_ktest(Path(name))))
        except KTestError as error:
            failures.append(str(error))
        except OSError as error:
            failures.append(f"{name}: {(error.strerror or str(error)).lower()}")
    if blocks:
        print("\n\n".join(blocks))
    for failure in failures:
        print(f"anabranch: show-test: {failure}", file=sys.stderr)
    return USAGE if failures else OK
