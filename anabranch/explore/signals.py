"""Ctrl-C and SIGTERM."""

from __future__ import annotations

import signal
import threading
from typing import Any


class HandledSignals:
    """Sends SIGINT and SIGTERM to a handler, where that is possible (the main thread)."""

    def __init__(self, handler: Any) -> None:
        self._handler = handler
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handler)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
