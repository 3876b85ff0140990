"""The table of error kinds has a row for whatever the source raises, and says what KLEE's readers know."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.error_kinds import ERROR_KINDS, error_kind
from anabranch.explore.checks import CHECKS
from anabranch.explore.kinds import end_number

ROOT = Path(__file__).resolve().parent.parent / "anabranch"
MAKERS = ("Fault", "_fault", "_fixed", "error")
"""Functions and methods whose first argument is the kind of an error."""
KLEE_SUFFIXES = {
    "abort", "assert", "bad_vector_access", "free", "model", "overflow", "ptr", "read_only", "report_error",
    "invalid_builtin_use", "implicit_truncation", "implicit_conversion", "unreachable_call", "missing_return",
    "invalid_load", "nullable_attribute", "function_type_mismatch", "user", "exec", "external", "solver",
}  # fmt: skip
OWN_SUFFIXES = {"div", "overshift", "leak", "stack", "uninit"}


def first_arguments(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in MAKERS and (name != "_fixed" or isinstance(node.args[0], ast.Constant)):
                yield node.args[0]


def raised(tree: ast.Module) -> Iterator[str]:
    """The kinds of the errors that a module makes; `?` and the text of an argument that is no kind."""
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for argument in first_arguments(tree):
        if isinstance(argument, ast.Constant):
            yield str(argument.value)
        elif isinstance(argument, ast.Name) and argument.id in constants:
            yield str(constants[argument.id])
        elif isinstance(argument, ast.IfExp):
            yield from (str(a.value) for a in (argument.body, argument.orelse) if isinstance(a, ast.Constant))
        elif not (isinstance(argument, ast.Name) and argument.id in ("kind", "error")):
            yield f"?{ast.unparse(argument)}"


def test_all_that_is_raised_has_a_row() -> None:
    found: dict[str, set[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        for kind in raised(ast.parse(path.read_text("utf-8"))):
            found.setdefault(kind, set()).add(str(path.relative_to(ROOT)))
    assert len(found) > 25
    assert {kind: files for kind, files in found.items() if kind not in ERROR_KINDS} == {}


def test_the_scan_sees_every_way_to_name_a_kind() -> None:
    text = "LOST = 'a'\nFault('b', 'm')\n_fault(LOST, [])\nm.error('c')\nFault('d' if x else 'e')\nFault(f())"
    assert list(raised(ast.parse(text))) == ["b", "a", "c", "d", "e", "?f()"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_the_kinds_of_checks_have_rows(check: object) -> None:
    assert set(check.kinds) <= ERROR_KINDS.keys()  # type: ignore[attr-defined]


def test_rows() -> None:
    for name, row in ERROR_KINDS.items():
        assert row.name == name
        assert row.suffix in KLEE_SUFFIXES | OWN_SUFFIXES
        assert 10 <= row.number <= 61 and end_number(name) == row.number
        assert row.cwe is None or 100 < row.cwe < 2000
    assert error_kind("use-after-free").suffix == error_kind("invalid-pointer").suffix == "ptr"
    assert error_kind("invalid-pointer").number == error_kind("null-pointer").number == 36


def test_a_kind_without_a_row_is_its_own_suffix_and_native_check() -> None:
    assert error_kind("some/odd kind").suffix == "some_odd_kind"
    assert error_kind("../").suffix == "exec"
    assert error_kind("mine").native == ("mine",)
    assert end_number("mine") == 60
