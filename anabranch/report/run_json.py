"""`run.json`: the whole outcome of a run, with keys that stay."""

from __future__ import annotations

import json
import math
from typing import Any

from anabranch.report.errors import error_json
from anabranch.report.events import InputRecord, TestCase
from anabranch.report.result import Coverage, Ratio, RunResult


def _ratio(ratio: Ratio) -> dict[str, int]:
    return {"covered": ratio.covered, "total": ratio.total}


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    return {
        "lines": _ratio(coverage.lines),
        "branches": _ratio(coverage.branches),
        "files": {
            name: {
                "lines": _ratio(file.lines),
                "branches": _ratio(file.branches),
                "lines_covered": list(file.lines_covered),
                "lines_total": list(file.lines_total),
                "hits": {str(line): count for line, count in file.hits.items()},
                "branch_hits": {
                    str(line): [list(sides) for sides in found] for line, found in file.branch_hits.items()
                },
            }
            for name, file in sorted(coverage.files.items())
        },
    }


def run_json(result: RunResult, finished: bool, version: str, max_places: int = 1000) -> dict[str, Any]:
    """The content of `run.json`; of a run that still goes on, what is known so far."""
    return {
        "anabranch": version,
        "finished": finished,
        "complete": finished and result.complete and not result.losses,
        "stopped": result.stopped,
        "losses": {
            kind: {
                "count": loss.count,
                "places": dict(
                    sorted(loss.places.items(), key=lambda item: (-item[1], item[0]))[:max_places]
                ),
            }
            for kind, loss in sorted(result.losses.items())
        },
        "unexplored_behind_errors": {
            item.function: {
                "never_entered": item.whole,
                "lines": {file: list(lines) for file, lines in item.lines.items()},
            }
            for item in result.unexplored
        },
        "checks": {
            check.name: {
                "kinds": list(check.kinds),
                "places": {"reached": check.reached, "not_reached": check.total - check.reached},
            }
            for check in result.checks
        },
        "paths": {
            "exit": result.paths_exit,
            "error": result.paths_error,
            "total": result.paths_total,
            "left": result.paths_left,
        },
        "multiplicity": result.paths_multiplicity,
        "exact_paths": result.paths_exact,
        "reductions": result.reductions,
        "assumptions": {
            "unknown_functions": result.unknown_calls,
            "fixed_answers": {
                asked: {"answer": fixed.answer, "place": fixed.place}
                for asked, fixed in sorted(result.fixed_answers.items())
            },
            "uninitialised": result.uninitialised,
        },
        "targets": [
            {"file": target.file, "line": target.line, "status": target.status, "kind": target.kind}
            for target in result.targets
        ],
        "tests": result.tests,
        "errors": [error_json(error) for error in result.errors],
        "states": {"explored": result.states_explored, "waiting_max": result.states_waiting_max},
        "instructions": result.instructions,
        "coverage": coverage_json(result.coverage),
        "queries": dict(sorted(result.queries.items())),
        "timers": {name: round(seconds, 6) for name, seconds in sorted(result.timers.items())},
        "cpu_seconds": round(result.cpu_seconds, 6),
        "settings": result.settings,
    }


def listing_line(number: int, test: TestCase, condition_file: str | None) -> str:
    """The line of `tests.jsonl` about a test: how its path ends; what is not known is left out."""
    entry: dict[str, Any] = {"test": number, "end": test.end, "inputs": [*map(input_json, test.inputs)]}
    known = {
        "kind": test.kind,
        "file": test.file,
        "line": test.line,
        "exit_code": test.exit_code,
        "output": None if test.output is None else test.output.hex(),
        "lines": None if test.lines is None else [list(pair) for pair in test.lines],
        "condition": condition_file,
        "answers": test.answers,
        "uninitialised": test.uninitialised or None,
    }
    entry |= {name: value for name, value in known.items() if value is not None}
    return json.dumps(entry)


def input_json(item: InputRecord) -> dict[str, Any]:
    """An input of a test: its C type, form, width in bits and value, or how many bytes it has."""
    value = item.value
    if value is None:
        return {"name": item.name, "bytes": len(item.data)}
    shown = value if math.isfinite(value) else str(value)  # JSON has no infinite numbers
    typed = {"type": item.type, "form": item.form, "bits": 8 * len(item.data), "value": shown}
    return {"name": item.name, **typed}


def to_text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
