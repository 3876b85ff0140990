"""Baselines: the reports that a project has today, so that it can fail on new ones only."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from anabranch.check.reports import Report

VERSION = 1


class BaselineError(Exception):
    """The file is wrong; the message is one line that says what to do."""


def read_baseline(path: Path) -> Counter[str]:
    """How often each fingerprint is in a baseline."""
    try:
        document = json.loads(path.read_text("utf-8"))
        if document["version"] != VERSION:
            raise BaselineError(f"{path} is a baseline of another version; write it again")
        return Counter({str(entry["fingerprint"]): int(entry["count"]) for entry in document["reports"]})
    except OSError as error:
        raise BaselineError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BaselineError(f"{path} is not a baseline; write one with --write-baseline") from None


def write_baseline(path: Path, reports: Sequence[Report]) -> None:
    counts = Counter(report.fingerprint for report in reports)
    first = {report.fingerprint: report for report in reversed(reports)}
    entries = [
        {
            "fingerprint": fingerprint,
            "count": count,
            "property": first[fingerprint].property,
            "function": first[fingerprint].function,
            "message": first[fingerprint].message,
        }
        for fingerprint, count in sorted(counts.items())
    ]
    try:
        path.write_text(json.dumps({"version": VERSION, "reports": entries}, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise BaselineError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def split_known(reports: Sequence[Report], baseline: Counter[str]) -> tuple[list[Report], list[Report]]:
    """The reports that are new, and those of the baseline."""
    left = Counter(baseline)
    new, known = [], []
    for report in reports:
        if left[report.fingerprint] > 0:
            left[report.fingerprint] -= 1
            known.append(report)
        else:
            new.append(report)
    return new, known
