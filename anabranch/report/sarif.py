"""SARIF 2.1.0, which code hosts and editors show beside the source."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from anabranch.report.exporters import Issue, Place, exporter

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@exporter("sarif")
def sarif_text(issues: list[Issue]) -> str:
    rules = {issue.kind: _rule(issue) for issue in issues}
    driver = {"name": "anabranch", "version": version("anabranch"), "rules": list(rules.values())}
    run = {"tool": {"driver": driver}, "results": [_result(issue) for issue in issues]}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(issue: Issue) -> dict[str, Any]:
    words = issue.kind.split("-")
    found: dict[str, Any] = {
        "id": issue.kind,
        "name": "".join(word.capitalize() for word in words),
        "shortDescription": {"text": " ".join(words)},
    }
    if issue.cwe is not None:
        found["helpUri"] = f"https://cwe.mitre.org/data/definitions/{issue.cwe}.html"
        found["properties"] = {"tags": ["security", f"external/cwe/cwe-{issue.cwe}"]}
    return found


def _result(issue: Issue) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": issue.kind,
        "level": "error" if issue.certain else "warning",
        "message": {"text": issue.place.text},
        "locations": [_location(issue.place)] if issue.place.file else [],
        "properties": issue.details,
    }
    steps = [{"location": _location(step, told=True)} for step in issue.steps if step.file]
    if steps:
        found["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if issue.fingerprint:
        found["partialFingerprints"] = {"anabranch/v1": issue.fingerprint}
    return found


def _location(place: Place, told: bool = False) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.file)}}
    if place.line > 0:
        physical["region"] = {"startLine": place.line}
        if place.column > 0:
            physical["region"]["startColumn"] = place.column
    found: dict[str, Any] = {"physicalLocation": physical}
    if told:
        found["message"] = {"text": place.text}
    return found


def _uri(file: str) -> str:
    """Relative to the working directory, as readers want it of files of a project; others are absolute."""
    near = os.path.relpath(file)
    return Path(file).absolute().as_uri() if near.startswith("..") else quote(near.replace(os.sep, "/"))
