"""Records of functions and answers of the solver on disk, so that a second run checks only what has changed.

A record is found by its key (`keys`). A function whose key has changed, be it because callers see another
function in one that it calls, is checked again; queries that are as they were are then answered from the last
run. Gated forms are not kept:
they are made again where a function that is checked asks for them. One program with one choice of settings is
two files, written as a whole and renamed: a reader sees the old file or the new one. A damaged file counts as
absent. The oldest files go when all of them together are too large.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from anabranch.check.places_in_source import Anchors, Place
from anabranch.check.records import COUNTERS, NUMBERS, FunctionRecord
from anabranch.check.reports import Report
from anabranch.check.trace import Shown, Step

FORMAT = 1
MAX_BYTES = 256 << 20
"""Of all files together."""

Answers = dict[str, list[int]]
"""Digest of a query -> verdict, polls, and of a model the variables that are not zero; see `decide`."""


Code = Callable[[str], str]
"""Symbol of a function -> a digest of its code."""


class Cache:
    """What is kept of one program."""

    def __init__(self, directory: Path, program: Sequence[str]) -> None:
        name = hashlib.sha256("\0".join((str(FORMAT), *program)).encode("utf-8", "replace")).hexdigest()
        self._directory = directory
        self._records_file = directory / f"{name[:40]}.records"
        self._answers_file = directory / f"{name[:40]}.answers"
        self._records: dict[str, Any] = _read(self._records_file)
        self._new: dict[str, Any] = {}
        self._answers: dict[str, Answers] | None = None
        self._changed = False
        self.problem = ""
        """Why the files could not be written, in one line."""

    def record(self, key: str, code: Code, anchors: Anchors) -> FunctionRecord | None:
        """`code` tells whether functions that reports mention are as they were: their lines may have moved,
        although callers see no difference."""
        found = self._records.get(key)
        if found is None:
            return None
        try:
            if any(code(name) != digest for name, digest in found["mentions"].items()):
                return None
            record = _decoded(found, anchors)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            return None
        self._new[key] = found
        return record

    def answers(self, function: str) -> Answers:
        """What was asked about a function in the last run."""
        if self._answers is None:
            self._answers = _read(self._answers_file)
        found = self._answers.get(function)
        return found if isinstance(found, dict) else {}

    def keep(self, key: str, record: FunctionRecord, answers: Answers, code: Code, anchors: Anchors) -> None:
        if self._answers is None:
            self._answers = _read(self._answers_file)
        self._changed = True
        found = self._new[key] = _encoded(record, anchors)
        names = {str(place[0]) for place in _mentioned(found["reports"]) if len(place) == 2}
        found["mentions"] = {name: code(name) for name in sorted(names)}
        self._answers[record.name] = answers

    def save(self, complete: bool) -> None:
        """Write what has changed. Of a run that was not complete, what the last one knew stays."""
        records = self._new if complete else {**self._records, **self._new}
        if not self._changed and len(records) == len(self._records):
            return
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            _write(self._records_file, records)
            if self._answers is not None:
                if complete:
                    names = {str(record["name"]) for record in records.values()}
                    self._answers = {n: a for n, a in self._answers.items() if n in names}
                _write(self._answers_file, self._answers)
            _make_room(self._directory, {self._records_file, self._answers_file})
        except OSError as error:
            self.problem = (error.strerror or str(error)).lower()


# -- files --------------------------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, Any]:
    try:
        head, _, body = path.read_bytes().partition(b"\n")
        if head.decode("ascii") != hashlib.sha256(body).hexdigest():
            return {}
        found = json.loads(body)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, content: dict[str, Any]) -> None:
    body = json.dumps(content, separators=(",", ":")).encode()
    temporary = path.with_name(f".new-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        temporary.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _make_room(directory: Path, own: set[Path]) -> None:
    """Remove the files that were written longest ago, and what a killed process has left."""
    found = []
    for path in directory.iterdir():
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= MAX_BYTES:
            break
        if path not in own:
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size


# -- records as JSON -----------------------------------------------------------------------------------------


def _encoded(record: FunctionRecord, anchors: Anchors) -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(record, name) for name in (*COUNTERS, *NUMBERS)}
    found |= {"name": record.name, "left": record.left, "failed": record.failed, "form": record.form}
    found["reports"] = [_encoded_report(report, anchors) for report in record.reports]
    return found


def _decoded(found: dict[str, Any], anchors: Anchors) -> FunctionRecord:
    counters: dict[str, Any] = {name: Counter(found[name]) for name in COUNTERS}
    numbers: dict[str, Any] = {name: int(found[name]) for name in NUMBERS}
    reports = [_decoded_report(report, anchors) for report in found["reports"]]
    left = [int(number) for number in found["left"]]
    return FunctionRecord(
        found["name"],
        reports=reports,
        left=left,
        failed=found["failed"],
        form=found["form"],
        **counters,
        **numbers,
    )


def _mentioned(reports: list[dict[str, Any]]) -> Iterator[Place]:
    """All places of some reports."""
    for report in reports:
        yield report["place"]
        for step in (*report["steps"], *([] if report["origin"] is None else [report["origin"]])):
            yield step[0]
        for value in report["values"]:
            yield value[2]


_PLAIN = tuple(
    f.name
    for f in fields(Report)
    if f.name not in ("file", "line", "because", "origin", "steps", "values", "also")
)


def _encoded_report(report: Report, anchors: Anchors) -> dict[str, Any]:
    found = {name: getattr(report, name) for name in _PLAIN}
    found["place"] = anchors.anchored(report.file, report.line)
    found["because"] = list(report.because)
    found["origin"] = None if report.origin is None else _encoded_step(report.origin, anchors)
    found["steps"] = [_encoded_step(step, anchors) for step in report.steps]
    found["values"] = [[v.name, v.value, anchors.anchored(v.file, v.line)] for v in report.values]
    return found


def _decoded_report(found: dict[str, Any], anchors: Anchors) -> Report:
    file, line = anchors.found(found["place"])
    origin = found["origin"]
    return Report(
        **{name: found[name] for name in _PLAIN},
        file=file,
        line=line,
        because=tuple(found["because"]),
        origin=None if origin is None else _decoded_step(origin, anchors),
        steps=tuple(_decoded_step(step, anchors) for step in found["steps"]),
        values=tuple(Shown(name, value, *anchors.found(place)) for name, value, place in found["values"]),
    )


def _encoded_step(step: Step, anchors: Anchors) -> list[Any]:
    onto = anchors.anchored(step.file, step.onto)
    return [anchors.anchored(step.file, step.line), step.function, step.words, onto, step.callee]


def _decoded_step(found: list[Any], anchors: Anchors) -> Step:
    place, function, words, onto, callee = found
    return Step(*anchors.found(place), function, words, anchors.found(onto)[1], callee)
