"""Kinds of losses tell what is missing, never a value of the program: there would be as many as values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "anabranch"
STATIC = {
    "opcode", "scalar", "type", "operand.type", "operand", "name", "function.name", "op", "operation", "base",
    "width", "UNMODELLED", "callee.text", "spec.length", "conversion", "what",
    "self.prefix", "kind", "instruction.opcode", "constant.op",
}  # fmt: skip
"""What may be part of a kind: words of the program's text, of which there are as many as in the text."""


def losses() -> Iterator[tuple[str, ast.expr]]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in ("Loss", "Unsupported", "lose", "lost", "unsupported"):
                for argument in node.args:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", argument


def placeholders(argument: ast.expr) -> Iterator[str]:
    if isinstance(argument, ast.JoinedStr):
        for part in argument.values:
            if isinstance(part, ast.FormattedValue):
                yield ast.unparse(part.value)


def test_no_kind_holds_a_value() -> None:
    wrong = [
        f"{place}: {text}"
        for place, argument in losses()
        for text in placeholders(argument)
        if not any(text == word or text.startswith(f"{word}.strip") for word in STATIC)
    ]
    assert not wrong


def test_the_scan_sees_kinds_with_values() -> None:
    call = ast.parse('m.lose(f"{size} bytes")').body[0]
    assert isinstance(call, ast.Expr) and isinstance(call.value, ast.Call)
    assert list(placeholders(call.value.args[0])) == ["size"]
