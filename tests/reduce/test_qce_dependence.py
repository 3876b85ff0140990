"""Dependence is an over-approximation: what taint reaches on some path has a count.

Random functions over locals, an array, memory behind an argument, a global, a pointer in memory and calls are
run along random paths. One variable is tainted at a block; a tainted branch later on needs its count to be
positive there.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from anabranch.analysis.cfg import build_cfg
from anabranch.ir import Function, Module, read_module
from anabranch.ir.module import Instruction
from anabranch.ir.values import ConstInt, GlobalRef, Local, Operand
from anabranch.reduce.qce import Base, QceParameters, QueryCounts
from anabranch.reduce.qce.counts import GlobalCounts

from .programs import random_body

HELPERS = """
@g = global [4 x i32] zeroinitializer
@h = global ptr null

define i32 @get(ptr %p) {
entry:
  %q = getelementptr i32, ptr %p, i64 1
  %x = load i32, ptr %q
  ret i32 %x
}
define void @put(ptr %p, i32 %v) {
entry:
  %c = icmp eq i32 %v, 3
  br i1 %c, label %yes, label %no
yes:
  store i32 %v, ptr %p
  ret void
no:
  ret void
}
define void @copy(ptr %to, ptr %from) {
entry:
  %x = call i32 @get(ptr %from)
  call void @put(ptr %to, i32 %x)
  ret void
}
define void @keep(ptr %p) {
entry:
  store ptr %p, ptr @h
  ret void
}
"""
BASES = ("%slot", "%p", "@g")


def filler(rng: random.Random, prefix: str) -> tuple[list[str], str]:
    """A few instructions that use parameters and each other only, so that every name is defined."""
    lines: list[str] = []
    values = ["%a", "%b"]

    def fresh() -> str:
        return f"%{prefix}.{len(lines)}"

    def address() -> str:
        offset = "%i" if rng.random() < 0.25 else str(rng.randrange(3))
        name = fresh()
        lines.append(f"  {name} = getelementptr i32, ptr {rng.choice(BASES)}, i64 {offset}")
        return name

    def stored_pointer() -> str:
        name = fresh()
        lines.append(f"  {name} = load ptr, ptr @h")
        return name

    for _ in range(rng.randint(0, 4)):
        kind = rng.choice(
            ["add", "load", "store", "store", "get", "put", "copy", "keep", "loaded", "through"]
        )
        value = rng.choice(values)
        if kind == "add":
            name = fresh()
            lines.append(f"  {name} = add i32 {value}, {rng.choice(values)}")
            values.append(name)
        elif kind in ("load", "loaded"):
            place = address() if kind == "load" else stored_pointer()
            name = fresh()
            lines.append(f"  {name} = load i32, ptr {place}")
            values.append(name)
        elif kind in ("store", "through"):
            place = address() if kind == "store" else stored_pointer()
            lines.append(f"  store i32 {value}, ptr {place}")
        elif kind == "get":
            place, name = address(), fresh()
            name = fresh()
            lines.append(f"  {name} = call i32 @get(ptr {place})")
            values.append(name)
        elif kind == "put":
            lines.append(f"  call void @put(ptr {address()}, i32 {value})")
        elif kind == "copy":
            lines.append(f"  call void @copy(ptr {address()}, ptr {address()})")
        elif rng.random() < 0.3:
            lines.append(f"  call void @keep(ptr {address()})")
    name = fresh()
    lines.append(f"  {name} = icmp eq i32 {rng.choice(values)}, 0")
    return lines, name


Word = tuple[str, int]


class Walker:
    """Runs a module along a random path. A value is (taint, content); contents are words or None."""

    def __init__(self, module: Module, rng: random.Random) -> None:
        self.module = module
        self.rng = rng
        self.memory: dict[Word, tuple[bool, Any]] = {}
        self.steps = 0
        self.hit = False

    def value(self, operand: Operand, frame: dict[int, tuple[bool, Any]]) -> tuple[bool, Any]:
        if isinstance(operand, Local):
            return frame[operand.index]
        if isinstance(operand, GlobalRef):
            return False, (operand.name, 0)
        return False, None

    def instruction(self, i: Instruction, frame: dict[int, tuple[bool, Any]]) -> None:
        taint = any(self.value(o, frame)[0] for o in i.operands if not isinstance(o, GlobalRef))
        result: tuple[bool, Any] = (taint, None)
        if i.opcode == "alloca":
            result = (False, ("slot", 0))
        elif i.opcode == "getelementptr":
            _, (name, word) = self.value(i.operands[0], frame)
            step = i.operands[1]
            move = step.value if isinstance(step, ConstInt) else self.rng.randrange(3)
            result = (taint, (name, word + move))
        elif i.opcode == "load":
            address = self.value(i.operands[0], frame)[1]
            stored = self.memory.get(address, (False, None))
            content = stored[1] if i.type.bits == 64 else None
            result = (taint or stored[0], content or (("lost", 0) if i.type.bits == 64 else None))
        elif i.opcode == "store":
            self.memory[self.value(i.operands[1], frame)[1]] = (taint, self.value(i.operands[0], frame)[1])
        elif i.opcode == "call":
            callee = i.operands[0]
            assert isinstance(callee, GlobalRef)
            arguments = [self.value(o, frame) for o in i.operands[1:]]
            result = self.call(self.module.functions[callee.name], arguments)
        if i.result is not None:
            frame[i.result.index] = result

    def call(self, function: Function, arguments: list[tuple[bool, Any]]) -> tuple[bool, Any]:
        frame = dict(enumerate(arguments))
        block = 0
        while True:
            found = self.block(function, block, frame)
            if isinstance(found, tuple):
                return found
            block = found

    def block(
        self, function: Function, block: int, frame: dict[int, tuple[bool, Any]]
    ) -> int | tuple[bool, Any]:
        """Runs a block; the next one, or what is returned."""
        self.steps += 1
        *body, last = function.blocks[block].instructions
        for i in body:
            self.instruction(i, frame)
        if last.opcode == "ret":
            return self.value(last.operands[0], frame) if last.operands else (False, None)
        if last.opcode != "br" or last.operands:
            self.hit = self.hit or self.value(last.operands[0], frame)[0]
        return self.rng.choice(last.targets)


def names_of(word: Word, f: Function) -> tuple[Base, int]:
    kind, number = word
    if kind == "slot":
        slot = next(i.result for i in f.blocks[0].instructions if i.opcode == "alloca")
        assert slot is not None
        return ("alloca", slot.index), 4 * number
    return (("argument", 3), 4 * number) if kind == "P" else (("global", kind), 4 * number)


def counted(estimator: QueryCounts, f: Function, block: int, variable: int | Word) -> float:
    counts = GlobalCounts([estimator.at("f", block)])
    if isinstance(variable, int):
        return counts.of(0, variable)
    base, offset = names_of(variable, f)
    return counts.byte([(0, base, offset)], estimator.escapes("f", base))


def walk(module: Module, estimator: QueryCounts, rng: random.Random) -> bool:
    """One path, one tainted variable; was a branch tainted?"""
    f = module.functions["f"]
    walker = Walker(module, rng)
    frame: dict[int, tuple[bool, Any]] = dict.fromkeys(range(5), (False, None))
    frame[3] = (False, ("P", 0))
    current: int | tuple[bool, Any] = walker.block(f, 0, frame)
    start = rng.randrange(6)
    place, variable = -1, None
    for step in range(60):
        if not isinstance(current, int) or f.blocks[current].instructions[-1].opcode == "unreachable":
            break
        if step == start:
            words = [(name, number) for name in ("slot", "P", "g") for number in range(5)]
            variable = rng.choice([*range(5), *words, ("h", 0)])
            place = current
            if isinstance(variable, int):
                frame[variable] = (True, frame[variable][1])
            else:
                walker.memory[variable] = (True, walker.memory.get(variable, (False, None))[1])
        current = walker.block(f, current, frame)
    if walker.hit:
        assert variable is not None
        assert counted(estimator, f, place, variable) > 0, (place, variable)
    return walker.hit


@pytest.mark.parametrize("seed", range(40))
def test_taint_has_a_count(seed: int) -> None:
    rng = random.Random(seed)
    body = random_body(rng, 4, filler)
    text = f"{HELPERS}define void @f(i32 %a, i32 %b, i64 %i, ptr %p, i32 %n) {{\n"
    text += f"  %slot = alloca [8 x i32]\n  br label %start\n{body}}}\n"
    module = read_module(text)
    estimator = QueryCounts(module, QceParameters(kappa=3, memory_weight=0, alpha=1e-30))
    tainted = sum(walk(module, estimator, rng) for _ in range(100))
    branches = sum(len(b.instructions[-1].targets) > 1 for b in module.functions["f"].blocks)
    assert tainted or branches < 6
    for block in build_cfg(module.functions["f"]).order:
        counts = estimator.at("f", block)
        every = [*counts.locals.values(), *counts.memory.values(), *counts.any_offset.values(), counts.heap]
        assert all(0 <= count <= counts.total * (1 + 1e-9) for count in every)
