"""How far the library has come, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

WIDTH = 30


class Progress:
    """A bar on a terminal, one line before and one after otherwise."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._lock = threading.Lock()
        self._done = self._total = 0
        self._started = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        elif kind is None:
            print(
                f"anabranch: C library built in {time.monotonic() - self._started:.0f} s",
                file=sys.stderr,
                flush=True,
            )

    def begin(self, total: int) -> None:
        self._total = total
        if not self._terminal:
            print(f"anabranch: building the C library ({total} files), once", file=sys.stderr, flush=True)

    def advance(self) -> None:
        with self._lock:
            self._done += 1
            if self._terminal:
                filled = WIDTH * self._done // max(self._total, 1)
                bar = "#" * filled + "." * (WIDTH - filled)
                text = f"\rbuilding the C library, once: [{bar}] {self._done} of {self._total} files"
                print(text, end="", file=sys.stderr, flush=True)
