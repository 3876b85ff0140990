"""The line shown while a run goes on."""

from __future__ import annotations

import io

import pytest

from anabranch.cli import progress
from anabranch.cli.progress import LiveDisplay, PlainDisplay, make_display, progress_line
from anabranch.report.errors import ErrorRecord
from anabranch.report.events import Progress
from anabranch.report.result import Ratio

MOMENT = Progress(
    65.0,
    paths_total=1234,
    states_waiting=56,
    instructions_per_second=2_500_000,
    lines=Ratio(3, 4),
    solver_share=0.25,
    errors=1,
    memory_bytes=300 << 20,
)
LINE = (
    "1:05 min | 1,234 paths done | 56 waiting | 2.5M instr/s | 75% of lines | solver 25% | 1 error | 300 MB"
)
ERROR = ErrorRecord("assert", "ASSERTION FAIL: [x]", "a.c", 3, test=4)


def test_the_line() -> None:
    assert progress_line(MOMENT) == LINE


def test_plain_lines_come_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    display = PlainDisplay(stream)
    for moment in (1.0, 4.0, 5.5, 6.0, 11.0):
        now[0] = moment
        display.on_progress(MOMENT)
    display.on_error(ERROR)
    display.on_warning("odd")
    assert stream.getvalue().splitlines() == [
        f"anabranch: {LINE}",
        f"anabranch: {LINE}",
        "anabranch: ERROR: a.c:3: ASSERTION FAIL: [x] (test000004)",
        "anabranch: warning: odd",
    ]


def test_the_live_line_is_rewritten_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    stream = Terminal()
    display = LiveDisplay(stream, seconds=0.0)
    display.on_progress(MOMENT)
    display.on_error(ERROR)
    display.on_progress(MOMENT)
    display.close()
    text = stream.getvalue()
    assert text.count(LINE) >= 2
    assert "ERROR: a.c:3: ASSERTION FAIL: [x] (test000004)" in text
    assert "\x1b[2K" in text, "the line is erased, not repeated"


def test_which_display() -> None:
    assert make_display(quiet=True, no_progress=False) is None
    assert isinstance(make_display(quiet=False, no_progress=True), PlainDisplay)
    assert isinstance(make_display(quiet=False, no_progress=False), PlainDisplay)
