"""What the user sees while a run goes on: one live line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from anabranch.cli.wording import clock, count, megabytes, short
from anabranch.report.errors import ErrorRecord
from anabranch.report.events import Progress

if TYPE_CHECKING:
    from rich.live import Live

#: seconds between two plain lines, and between two renewals of the live line.
PLAIN_SECONDS = 5.0
LIVE_SECONDS = 0.1
#: seconds after which a phase that reports no progress says what it does, and between two looks at it.
PHASE_SECONDS = 2.0
WATCH_SECONDS = 0.25


def progress_line(progress: Progress) -> str:
    """Where the run stands, in one line."""
    parts = [
        clock(progress.seconds),
        f"{count(progress.paths_total, 'path')} done",
        f"{progress.states_waiting:,} waiting",
        f"{short(progress.instructions_per_second)} instr/s",
    ]
    if progress.lines.total:
        parts.append(f"{progress.lines.percent:.0f}% of lines")
    parts += [
        f"solver {100 * progress.solver_share:.0f}%",
        count(progress.errors, "error"),
        megabytes(progress.memory_bytes),
    ]
    return " | ".join(parts)


def error_line(error: ErrorRecord) -> str:
    test = f" (test{error.test:06d})" if error.test is not None else ""
    return f"ERROR: {error.location}: {error.message}{test}"


class PhaseWatch:
    """Says what is being done when that takes long. Phases begin and end often, so one thread looks now and
    then which one it is."""

    def __init__(
        self, say: Callable[[str], None], after: float = PHASE_SECONDS, interval: float = WATCH_SECONDS
    ) -> None:
        self._say = say
        self._after = after
        self._interval = interval
        self._phase: tuple[str, float] | None = None  # what, and since when
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, what: str) -> None:
        """Something else is being done from now on; "" ends the phase."""
        self._phase = (what, time.monotonic()) if what else None
        if self._thread is None and what:
            self._thread = threading.Thread(target=self._watch, name="anabranch-phases", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        told = None
        while not self._end.wait(self._interval):
            phase = self._phase
            if phase is not None and phase is not told and time.monotonic() - phase[1] >= self._after:
                told = phase
                self._say(f"{phase[0]} ...")

    def close(self) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()


class PlainDisplay:
    """Lines on a stream; progress only now and then."""

    def __init__(self, stream: IO[str], progress: bool = True) -> None:
        self._stream = stream
        self._progress = progress
        self._next = time.monotonic() + PLAIN_SECONDS
        self._phases = PhaseWatch(self._say)

    def _say(self, text: str) -> None:
        print(f"anabranch: {text}", file=self._stream, flush=True)

    def on_progress(self, progress: Progress) -> None:
        self.on_line(lambda: progress_line(progress))

    def on_line(self, line: Callable[[], str]) -> None:
        """Where something stands; the line is made only if it is shown."""
        now = time.monotonic()
        if self._progress and now >= self._next:
            self._next = now + PLAIN_SECONDS
            self._say(line())

    def on_phase(self, what: str) -> None:
        if self._progress:
            self._phases.begin(what)

    def on_error(self, error: ErrorRecord) -> None:
        self._say(error_line(error))

    def on_warning(self, text: str) -> None:
        self._say(f"warning: {text}")

    def close(self) -> None:
        self._phases.close()


class LiveDisplay:
    """One line that is rewritten in place; errors and warnings scroll by above it."""

    def __init__(self, stream: IO[str], seconds: float = LIVE_SECONDS) -> None:
        self._stream = stream
        self._seconds = seconds
        self._live: Live | None = None
        self._next = 0.0
        self._phases = PhaseWatch(self._show)

    def _open(self) -> Live:
        if self._live is None:
            # Imported when first needed: it costs more than a short run.
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream, highlight=False)
            self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        return self._live

    def on_progress(self, progress: Progress) -> None:
        self.on_line(lambda: progress_line(progress))

    def on_line(self, line: Callable[[], str]) -> None:
        """Where something stands; the line is made only if it is shown."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._seconds
        self._show(line())

    def _show(self, line: str) -> None:
        from rich.text import Text

        self._open().update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)

    def on_phase(self, what: str) -> None:
        self._phases.begin(what)

    def _say(self, text: str, style: str) -> None:
        from rich.text import Text

        self._open().console.print(Text(text, style=style), soft_wrap=True)

    def on_error(self, error: ErrorRecord) -> None:
        self._say(error_line(error), "red")

    def on_warning(self, text: str) -> None:
        self._say(f"warning: {text}", "yellow")

    def close(self) -> None:
        self._phases.close()
        if self._live is not None:
            self._live.stop()
            self._live = None


def make_display(quiet: bool, no_progress: bool) -> PlainDisplay | LiveDisplay | None:
    """The display that suits the settings and standard error; None shows nothing."""
    if quiet:
        return None
    if no_progress or not sys.stderr.isatty():
        return PlainDisplay(sys.stderr, progress=not no_progress)
    return LiveDisplay(sys.stderr)
