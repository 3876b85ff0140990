"""Whether a native run ended as a test predicts."""

from __future__ import annotations

import signal
from typing import Protocol

from anabranch.native.run import EXIT_ASSUME, EXIT_CHECK, EXIT_MISMATCH, EXIT_REPORT, NativeRun

# Kinds that a signal shows when no check named them first.
SIGNALS = {
    signal.SIGABRT: {"assert", "abort"},
    signal.SIGSEGV: {"ptr", "read_only", "stack", "exec"},
    signal.SIGBUS: {"ptr", "read_only"},
    signal.SIGFPE: {"div", "overflow"},
    signal.SIGILL: {"unreachable_call", "abort"},
}
LEFT_BEHIND = frozenset(("leak", "never-freed"))
"""Errors that are told when a program has ended normally: a native run does so too."""
_COARSE = {
    "null-pointer": "ptr", "wild-pointer": "ptr", "out-of-bounds": "ptr", "use-after-free": "ptr",
    "use-after-scope": "ptr", "double-free": "free", "invalid-free": "free", "division-by-zero": "div",
    "read-only": "read_only",
    "report-error": "report_error", "unreachable": "unreachable_call", "stack-overflow": "stack",
    "bad-call": "exec", "uninitialised": "uninit",
}  # fmt: skip


class Prediction(Protocol):
    """How the engine says that the path of a test ends."""

    @property
    def end(self) -> str: ...
    @property
    def kind(self) -> str | None: ...
    @property
    def exit_code(self) -> int | None: ...
    @property
    def output(self) -> bytes | None: ...


def coarse(kind: str) -> str:
    """Error kinds as native detection tells them apart: the suffixes of `.err` files."""
    return _COARSE.get(kind, kind)


def is_prediction(test: Prediction) -> bool:
    """Paths that a limit cut off predict nothing."""
    return test.end in ("exit", "error")


def difference(test: Prediction, native: NativeRun) -> str | None:
    """Why a native run is not the end that the test predicts; None if it is."""
    if native.timed_out:
        return "did not end in time"
    # a program may end with these codes itself; the run-time says why it does
    spoke = b"replay:" in native.stderr
    if native.code == EXIT_MISMATCH and spoke:
        return f"asked for other objects: {native.stderr.decode(errors='replace').strip()[-200:]}"
    if native.code == EXIT_ASSUME and spoke:
        return "an assumption is false"
    if test.end == "exit":
        return _exit_difference(test, native)
    kind = coarse(test.kind or "")
    if kind == native.check_kind():
        return None
    if test.kind in LEFT_BEHIND:
        return None if not native.signal and not native.check_kind() else f"predicted exit, {ended(native)}"
    if kind in ("report_error", "user") and native.code == EXIT_REPORT:
        return None
    if native.signal and kind in SIGNALS.get(signal.Signals(native.signal), set()):
        return None
    return f"predicted {test.kind}, {ended(native)}"


def _exit_difference(test: Prediction, native: NativeRun) -> str | None:
    if native.signal or (native.code == EXIT_CHECK and native.check_kind()):
        return f"predicted exit {test.exit_code}, {ended(native)}"
    if native.code != (test.exit_code or 0) & 0xFF:
        return f"predicted exit {test.exit_code}, native exit {native.code}"
    if test.output is not None and native.stdout != test.output:
        wanted, got = _shown(test.output, native.stdout), _shown(native.stdout, test.output)
        return f"predicted output {wanted}, native {got}"
    return None


def _shown(text: bytes, other: bytes) -> str:
    """The part of a text around its first difference from another."""
    at = next(
        (i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
    )
    start = max(0, at - 20)
    return ("..." if start else "") + repr(text[start : start + 60])


def ended(native: NativeRun) -> str:
    """How a native run ended, in words."""
    if native.timed_out:
        return "no end in time"
    if native.signal:
        return f"native signal {signal.Signals(native.signal).name}"
    kind = native.check_kind()
    return f"native error {kind}" if kind else f"native exit {native.code}"
