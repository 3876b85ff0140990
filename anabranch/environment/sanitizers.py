"""What AddressSanitizer's run-time library does when a check of a program has failed: the program's error.

Programs that it instrumented as a whole are refused by the front end: their objects are not those of the
source. Reports that are called otherwise, by hand or by a checker of the program's own, are errors here.
"""

from __future__ import annotations

from anabranch.analysis.effects import PURE
from anabranch.environment.api import MachineApi, Value
from anabranch.environment.registry import model

SIZES = ("1", "2", "4", "8", "16")


def _names(action: str) -> list[str]:
    return [f"__asan_report_{action}{size}{end}" for size in SIZES for end in ("", "_noabort")]


@model(*_names("load"), *_names("store"), effects=PURE)
def report_access(m: MachineApi, address: Value) -> None:
    m.error("out-of-bounds", "memory error: bad access, found by the program's own check", address=address)


@model(*(f"__asan_report_{action}_n{end}" for action in ("load", "store") for end in ("", "_noabort")))
def report_block(m: MachineApi, address: Value, size: Value) -> None:
    m.error("out-of-bounds", "memory error: bad access, found by the program's own check", address=address)
