"""The `info` file: the command, when the run began and ended, and its closing figures."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime, timedelta

from anabranch.report.result import RunResult


def info_start(command: Sequence[str], pid: int, started: datetime, searcher: str) -> str:
    """The part that is known when the run begins."""
    return (
        f"{shlex.join(command)}\n"
        f"PID: {pid}\n"
        f"Started: {started:%Y-%m-%d %H:%M:%S}\n"
        f"BEGIN searcher description\n{searcher}\nEND searcher description\n"
    )


def info_end(result: RunResult, finished: datetime, elapsed: timedelta) -> str:
    """The part that is added at the end."""
    queries = result.queries
    started = result.paths_total + result.paths_left  # what KLEE counts as explored, fully or partially
    figures = {
        "explored paths": started,
        "total queries": int(queries.get("total", 0)),
        "valid queries": int(queries.get("valid", 0)),
        "invalid queries": int(queries.get("invalid", 0)),
        "query cex": int(queries.get("cex", 0)),
        "total instructions": result.instructions,
        "completed paths": result.paths_exit,
        "partially completed paths": started - result.paths_exit,
        "generated tests": result.tests,
    }
    seconds = int(elapsed.total_seconds())
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    lines = [f"Finished: {finished:%Y-%m-%d %H:%M:%S}", f"Elapsed: {clock}"]
    if "main" in result.timers:
        lines.append(f"Entered main: {result.timers['main']:.2f} s after the start of the command")
    lines += [f"KLEE: done: {name} = {value}" for name, value in figures.items()]
    return "\n".join(lines) + "\n"
