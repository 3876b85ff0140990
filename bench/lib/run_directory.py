"""Reads the directory of a run, finished or killed."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.report.ktest import KTest, KTestError, read_ktest
from anabranch.report.tree_db import DetailRow, NodeRow

_TEST = re.compile(r"test(\d+)\.ktest")
_ERROR = re.compile(r"test(\d+)\.(.+)\.err")


class ReadError(Exception):
    """The directory does not hold a run; the message is for the user."""


@dataclass(frozen=True, slots=True)
class ErrorFile:
    """One `.err` file: its number, suffix and fields by name."""

    number: int
    suffix: str
    path: Path
    fields: dict[str, str]


@dataclass(slots=True)
class RunData:
    """Whatever a run directory holds; `problems` names files that could not be read."""

    path: Path
    run: dict[str, Any] = field(default_factory=dict)
    info: str = ""
    messages: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tests: dict[int, KTest] = field(default_factory=dict)
    errors: list[ErrorFile] = field(default_factory=list)
    stats: list[dict[str, float]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        """The run came to its end, and was not killed."""
        return self.run.get("finished") is True

    @property
    def complete(self) -> bool:
        """Every path was explored and nothing was lost."""
        return self.finished and self.run.get("complete") is True


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""


def read_run(directory: Path) -> RunData:
    """Load a run directory; files that are absent or broken leave their part empty and are named."""
    if not directory.is_dir():
        raise ReadError(f"{directory} is not a run directory")
    data = RunData(directory)
    try:
        _read_parts(data)
    except OSError as error:
        raise ReadError(f"cannot read {directory}: {error.strerror or error}") from error
    if not (data.info or data.run or data.tests or data.errors):
        raise ReadError(f"{directory} holds no results of a run")
    return data


def _read_parts(data: RunData) -> None:
    directory = data.path
    data.info = _text(directory / "info")
    data.messages = _text(directory / "messages.txt").splitlines()
    data.warnings = _text(directory / "warnings.txt").splitlines()
    json_path = directory / "run.json"
    if json_path.exists():
        try:
            loaded = json.loads(_text(json_path))
            if not isinstance(loaded, dict):
                raise ValueError("not an object")
            data.run = loaded
        except ValueError as error:
            data.problems.append(f"run.json: {error}")
    stats_path = directory / "run.stats"
    if stats_path.exists():
        try:
            data.stats = read_stats(stats_path)
        except sqlite3.Error as error:
            data.problems.append(f"run.stats: {error}")
    for path in sorted(directory.iterdir()):
        if match := _TEST.fullmatch(path.name):
            try:
                data.tests[int(match[1])] = read_ktest(path)
            except KTestError as error:
                data.problems.append(f"{path.name}: {error}")
        elif match := _ERROR.fullmatch(path.name):
            data.errors.append(ErrorFile(int(match[1]), match[2], path, parse_error_text(_text(path))))


def parse_error_text(text: str) -> dict[str, str]:
    """Fields of an `.err` file by name; `Stack` and `Info` hold their lines, unindented."""
    fields: dict[str, str] = {}
    last = ""
    for line in text.splitlines():
        if line.startswith("\t") and last:
            fields[last] += ("\n" if fields[last] else "") + line[1:]
            continue
        name, colon, value = line.partition(":")
        if colon:
            last = name
            fields[last] = value.strip()
    return fields


def read_stats(path: Path) -> list[dict[str, float]]:
    """All rows of a `run.stats`, in order; also of one whose writer was killed."""
    db = sqlite3.connect(path)
    try:
        rows = db.execute("SELECT * FROM stats ORDER BY rowid")
        names = [column[0] for column in rows.description]
        return [dict(zip(names, row, strict=True)) for row in rows]
    finally:
        db.close()


def read_tree(path: Path) -> tuple[list[NodeRow], list[DetailRow]]:
    """All nodes and details, by ID."""
    db = sqlite3.connect(path)
    try:
        nodes = db.execute(
            "SELECT ID, stateID, leftID, rightID, asmLine, kind FROM nodes ORDER BY ID"
        ).fetchall()
        details = db.execute("SELECT ID, place, condition, end FROM details ORDER BY ID").fetchall()
    finally:
        db.close()
    return nodes, details
