"""Imports point down the layers only; llvmlite stays in the front end; every package explains itself."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "anabranch"

MACHINE = {"expr", "solver", "ir", "semantics", "analysis"}
ENVIRONMENT = MACHINE | {"machine"}
EXPLORE = ENVIRONMENT | {"environment", "report"}
ALLOWED: dict[str, set[str]] = {
    "expr": set(),
    "solver": {"expr"},
    "ir": set(),
    "semantics": {"expr", "ir"},
    "analysis": {"ir", "semantics"},
    "frontend": {"ir", "analysis", "native"},
    "report": set(),
    "machine": MACHINE,
    "check": MACHINE,
    "environment": ENVIRONMENT,
    "explore": EXPLORE,
    "tune": {"expr", "solver"},
    "native": set(),
    "wrapper": {"native"},
    "replay": EXPLORE | {"explore", "native"},
    "reduce": EXPLORE | {"explore"},
    "unit": EXPLORE | {"explore", "native", "replay"},
    "cli": EXPLORE
    | {"check", "explore", "frontend", "native", "reduce", "replay", "tune", "unit", "wrapper"},
}

TECHNIQUES: dict[str, set[str]] = {
    "qce": set(),
    "merging": {"qce"},
    "loops": {"merging"},
    "zequivalence": set(),
    "redundancy": set(),
}
"""Folders under `reduce`, and which of the others each may import; a technique that is not listed: none."""


def packages() -> list[str]:
    return sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


def techniques() -> list[str]:
    return sorted(path.parent.name for path in ROOT.glob("reduce/*/__init__.py"))


@cache
def imports(path: Path) -> set[str]:
    """Full names of the modules that a file imports, wherever in the file."""
    package = ("anabranch", *path.relative_to(ROOT).parent.parts)
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            found.add(base)
            if base in ("anabranch", "anabranch.reduce"):
                found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


def uses(package: str) -> dict[str, set[str]]:
    """Sibling package -> the files that import it."""
    result: dict[str, set[str]] = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        for name in imports(path):
            parts = name.split(".")
            if (
                parts[0] == "anabranch"
                and len(parts) > 1
                and (ROOT / parts[1]).is_dir()
                and parts[1] != package
            ):
                result.setdefault(parts[1], set()).add(str(path.relative_to(ROOT)))
    return result


def test_every_package_is_placed() -> None:
    assert set(packages()) <= set(ALLOWED)
    assert set(TECHNIQUES) <= set(techniques())
    assert {"report", "cli"} <= set(packages())


@pytest.mark.parametrize("package", packages())
def test_imports_point_down(package: str) -> None:
    wrong = {used: sorted(files) for used, files in uses(package).items() if used not in ALLOWED[package]}
    assert not wrong


@pytest.mark.parametrize("technique", techniques())
def test_techniques_do_not_know_each_other(technique: str) -> None:
    others = set(techniques()) - {technique} - TECHNIQUES.get(technique, set())
    wrong = {
        (str(path.relative_to(ROOT)), name)
        for path in sorted((ROOT / "reduce" / technique).rglob("*.py"))
        for name in imports(path)
        if name.startswith("anabranch.reduce.") and name.split(".")[2] in others
    }
    assert not wrong


def test_only_the_front_end_imports_llvmlite() -> None:
    wrong = [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).parts[0] != "frontend"
        and any(name.split(".")[0] == "llvmlite" for name in imports(path))
    ]
    assert not wrong


@pytest.mark.parametrize("package", packages())
def test_every_package_has_a_readme(package: str) -> None:
    assert (ROOT / package / "README.md").is_file()


def test_relative_and_plain_imports_are_seen(tmp_path: Path) -> None:
    assert "anabranch.report.errors" in imports(ROOT / "report" / "events.py")
    assert uses("cli").keys() >= {"report"}
