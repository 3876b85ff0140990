"""The line shown while a run goes on."""

from __future__ import annotations

import io
import time

import pytest

from anabranch.cli import progress
from anabranch.cli.progress import LiveDisplay, PhaseWatch, PlainDisplay, make_display, progress_line
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


def test_a_phase_that_takes_long_says_what_it_does() -> None:
    said: list[str] = []
    watch = PhaseWatch(said.append, after=0.05, interval=0.01)
    watch.begin("reading")
    watch.begin("")
    watch.begin("quick")
    watch.begin("writing")
    deadline = time.monotonic() + 10
    while not said and time.monotonic() < deadline:
        time.sleep(0.01)
    watch.begin("")
    watch.close()
    watch.close()
    assert said == ["writing ..."]


def test_phases_are_shown_as_lines_unless_there_is_to_be_no_progress() -> None:
    for progress_wanted, lines in ((True, ["anabranch: reading ..."]), (False, [])):
        stream = io.StringIO()
        display = PlainDisplay(stream, progress_wanted)
        display._phases._after = display._phases._interval = 0.01
        display.on_phase("reading")
        deadline = time.monotonic() + (10 if progress_wanted else 0.1)
        while not stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        display.close()
        assert stream.getvalue().splitlines() == lines
