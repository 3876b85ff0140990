"""Random functions with structured control flow, as LLVM text."""

from __future__ import annotations

import random
from collections.abc import Callable

Filler = Callable[[random.Random, str], tuple[list[str], str]]
"""Instructions of a block and the condition of its branch, given a prefix for names."""


def no_instructions(rng: random.Random, prefix: str) -> tuple[list[str], str]:
    return [], "%c"


class Builder:
    """Grows one function statement by statement; loops and branches are nested at random."""

    def __init__(self, rng: random.Random, filler: Filler = no_instructions) -> None:
        self.rng = rng
        self.filler = filler
        self.blocks: list[tuple[str, list[str]]] = []
        self.exits: list[str] = []
        self.count = 0

    def label(self) -> str:
        self.count += 1
        return f"b{self.count}"

    def block(self, name: str) -> tuple[list[str], str]:
        lines, condition = self.filler(self.rng, name)
        self.blocks.append((name, lines))
        return lines, condition

    def statements(self, start: str, end: str, size: int) -> None:
        """Code from label `start` (to be made) that ends in a jump to `end`."""
        current = start
        for _ in range(self.rng.randint(0, 2) if size > 0 else 0):
            after = self.label()
            self._statement(current, after, size - 1)
            current = after
        lines, _ = self.block(current)
        lines.append(f"  br label %{end}")

    def _statement(self, start: str, after: str, size: int) -> None:
        kind = self.rng.choice(["if", "if", "while", "do", "switch", "leave"])
        lines, condition = self.block(start)
        inner, other = self.label(), self.label()
        if kind == "if":
            lines.append(f"  br i1 {condition}, label %{inner}, label %{other}")
            self.statements(inner, after, size)
            self.statements(other, after, size)
        elif kind == "switch":
            third = self.label()
            lines.append(f"  switch i32 %n, label %{inner} [\n    i32 1, label %{other}")
            lines.append(f"    i32 2, label %{third}\n    i32 3, label %{other}\n  ]")
            for name in (inner, other, third):
                self.statements(name, after, size)
        elif kind == "while":
            head = self.label()
            lines.append(f"  br label %{head}")
            header, test = self.block(head)
            header.append(f"  br i1 {test}, label %{inner}, label %{after}")
            self.exits.append(after)
            self.statements(inner, head, size)
            self.exits.pop()
            self.block(other)[0].append("  unreachable")
        elif kind == "do":
            lines.append(f"  br label %{inner}")
            self.exits.append(after)
            self.statements(inner, other, size)
            self.exits.pop()
            latch, test = self.block(other)
            latch.append(f"  br i1 {test}, label %{inner}, label %{after}")
        else:
            target = self.exits[-1] if self.exits and self.rng.random() < 0.7 else "end"
            lines.append(f"  br i1 {condition}, label %{target}, label %{inner}")
            self.statements(inner, after, size)
            self.block(other)[0].append("  unreachable")


def random_body(rng: random.Random, size: int, filler: Filler = no_instructions) -> str:
    """Blocks from label `start` to a return at `end`."""
    builder = Builder(rng, filler)
    builder.statements("start", "end", size)
    builder.block("end")[0].append("  ret void")
    return "".join(f"{name}:\n" + "\n".join(lines) + "\n" for name, lines in builder.blocks)


def random_function(rng: random.Random, size: int = 3) -> str:
    return f"define void @f(i1 %c, i32 %n) {{\n  br label %start\n{random_body(rng, size)}}}\n"
