"""Whether a native run ended as a test predicts."""

from __future__ import annotations

import signal
from typing import Protocol

from anabranch.error_kinds import EXIT, STOPPED, error_kind
from anabranch.native.run import EXIT_ASSUME, EXIT_CHECK, EXIT_MISMATCH, EXIT_REPORT, NativeRun


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
    expected = error_kind(test.kind or "").native
    if not _native_ends(native).isdisjoint(expected):
        return None
    if EXIT in expected:
        return f"predicted exit, {ended(native)}"
    return f"predicted {test.kind}, {ended(native)}"


def _native_ends(native: NativeRun) -> set[str]:
    """How a native run may have ended, in the words of `ErrorKind.native`."""
    if native.signal:
        return {signal.Signals(native.signal).name}
    if native.code == EXIT_REPORT:
        return {STOPPED, EXIT}  # a program may end with this code itself
    return {native.check_kind() or EXIT}


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
