"""One round of a loop without the solver: every way through its body, with the condition of each.

A round begins at the header and ends where the loop has moved on, or behind the loop. Branches on the input
go both ways; what is known of single variables says which ways there are none. Whatever can fail cannot be
followed: there the way is stuck, and the machine has to run it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import immutables

from anabranch.analysis.loops import Loop
from anabranch.expr import Expr, expr_vars, not_
from anabranch.expr.boolean import bool_and, negation
from anabranch.ir.module import Instruction
from anabranch.ir.values import Local
from anabranch.machine import Machine
from anabranch.machine.translator.unit import Unit
from anabranch.reduce.loops.summaries.affine import comparison
from anabranch.semantics.conditions import possible_faults
from anabranch.semantics.operations import OPERATIONS, result
from anabranch.semantics.switches import in_case, switch_cases
from anabranch.solver import SolverUnknown
from anabranch.solver.slices import conjuncts
from anabranch.solver.valuesets import ValueSet, highest, intersect, lowest, truth_set, without

Value = Any
Sets = immutables.Map[int, ValueSet]
"""Supersets of the values of variables, where they are narrower than in the state."""
MOST_WAYS = 64  # through one round
MOST_BLOCKS = 2000  # in one round, all ways together


class Beginning(NamedTuple):
    """What is known where a round begins."""

    sets: Sets
    """Of single variables, whichever way paths came there."""
    came: Sets | None
    """The same of the paths that come from the round before; None if there are none."""
    enters: Value
    """The condition that a path enters the loop there."""


NOTHING_KNOWN = Beginning(Sets(), None, False)


class Stuck(Exception):
    """It cannot be followed."""


@dataclass(slots=True)
class Way:
    """One way through the body, or the beginning of one."""

    block: int
    """Where it has come to."""
    registers: dict[int, Value]
    sets: Sets
    conditions: tuple[Expr, ...] = ()
    """What was decided on it."""
    edges: tuple[tuple[int, int], ...] = ()
    """Taken so far."""
    stuck: str = ""
    """Why it cannot be followed any further."""

    def has(self, condition: Expr) -> bool:
        """Was this decided on the way?"""
        return any(condition is known for known in self.conditions)

    def with_condition(self, condition: Expr, sets: Sets) -> Way:
        """A way of its own that differs from here on."""
        return Way(self.block, dict(self.registers), sets, (*self.conditions, condition), self.edges)


class Load(Protocol):
    """Reads memory."""

    def __call__(self, address: Value, bits: int, way: Way, body: Body) -> Value:
        """The value at an address; Stuck if that may fail."""


class Body:
    """The body of a loop, for one state that has come to its header and is the running path now."""

    def __init__(self, loop: Loop, unit: Unit, machine: Machine, load: Load) -> None:
        self.loop = loop
        self.unit = unit
        self.decided = False
        """Was there a condition on the input?"""
        self._beginning = NOTHING_KNOWN  # of the round that is followed
        self._machine = machine
        self._slices = machine.path.slices
        self._load = load

    def ways(self, start: Way, beginning: Beginning, moved: Callable[[Way], bool]) -> list[Way]:
        """All ways from the header to where the loop has moved on, to the first block behind it, or to where
        they are stuck. `moved`: asked on arrival at the header; if not, the round goes on."""
        self._beginning = beginning
        pending, found, blocks = [start], [], 0
        while pending:
            way = pending.pop()
            try:
                following = self._run(way)
            except Stuck as stuck:
                way.stuck = str(stuck)
                found.append(way)
                following = []
            for after in following:
                left = after.block not in self.loop.blocks
                if left or (after.block == self.loop.header and moved(after)):
                    found.append(after)
                else:
                    pending.append(after)
            blocks += 1
            if len(found) + len(pending) > MOST_WAYS or blocks > MOST_BLOCKS:
                raise Stuck("too many ways through a round")
        return found

    # ---- conditions ----------------------------------------------------------------------------------

    def decide(self, condition: Value, way: Way) -> Value:
        """True, False, or a condition if it is open."""
        if condition.__class__ is not Expr:
            return bool(condition)
        self.decided = True
        if expr_vars(condition)[0] < 0:
            raise Stuck("uninitialised data")
        if len(expr_vars(condition)) > 1:
            condition = comparison(condition, self.range_of, self._never)
            if condition.__class__ is not Expr:
                return condition
        if way.has(condition):
            return True
        if way.has(negation(condition)):
            return False
        variables = expr_vars(condition)
        truth = truth_set(condition) if len(variables) == 1 else None
        if truth is None:
            return self._machine.knowledge.known(condition)
        values = self._values(variables[0], way.sets)
        if not intersect(values, truth):
            return False
        return condition if without(values, truth) else True

    def excluded(self, condition: Expr, way: Way) -> bool:
        """Is a condition on one variable never true where the round begins, as the solver knows of the paths
        that enter there? From then on it is known on the way."""
        truth = truth_set(condition) if len(expr_vars(condition)) == 1 else None
        if truth is None:
            return False
        (v,) = expr_vars(condition)
        _, came, enters = self._beginning
        if came is not None and intersect(self._values(v, came), truth):
            return False
        if not self._never(bool_and(enters, condition)):
            return False
        way.sets = way.sets.set(v, without(self._values(v, way.sets), truth))
        return True

    def _never(self, condition: Value) -> bool:
        """Does the solver know that a condition is infeasible in the state?"""
        if condition.__class__ is not Expr:
            return not condition
        try:
            return (
                self._machine.space.assume(self._machine.path.slice_of(expr_vars(condition)), condition)
                is None
            )
        except SolverUnknown:
            return False

    def range_of(self, v: int) -> tuple[int, int]:
        """The least and the greatest value of a variable in this round."""
        values = self._values(v, self._beginning.sets)
        return lowest(values), highest(values)

    def range_at_entry(self, v: int) -> tuple[int, int]:
        """The same of the state that enters the loop, wherever that is."""
        values = self._slices[v].bounds[v]
        return lowest(values), highest(values)

    def _values(self, v: int, sets: Sets) -> ValueSet:
        found = sets.get(v)
        return self._slices[v].bounds[v] if found is None else found

    def narrowed(self, sets: Sets, condition: Value) -> Sets | None:
        """The sets with a condition added; None if it cannot be true."""
        if condition.__class__ is not Expr:
            return sets
        for part in conjuncts(condition):
            if len(expr_vars(part)) == 1:
                truth, (v,) = truth_set(part), expr_vars(part)
                if truth is not None:
                    left = intersect(self._values(v, sets), truth)
                    if not left:
                        return None
                    sets = sets.set(v, left)
        return sets

    # ---- one block -----------------------------------------------------------------------------------

    def _run(self, way: Way) -> list[Way]:
        """The ways on from a block."""
        plan = self.unit.plan
        *instructions, last = plan.blocks[way.block].instructions
        for instruction in instructions:
            if instruction.opcode not in ("phi", "call") and not plan.is_repetition(instruction):
                assert instruction.result is not None
                way.registers[instruction.result.index] = self._compute(instruction, way)
        if last.opcode == "switch":
            return self._switch(last, way)
        if len(last.targets) == 1 or last.targets[0] == last.targets[1]:
            return [self._edge(way, last.targets[0])]
        condition = self.decide(self.value(last.operands[0], way), way)
        if condition.__class__ is not Expr:
            return [self._edge(way, last.targets[0 if condition else 1])]
        sides = [
            (self._taken(way, c), t)
            for c, t in zip((condition, negation(condition)), last.targets, strict=True)
        ]
        return [self._edge(taken, target) for taken, target in sides if taken is not None]

    def _taken(self, way: Way, condition: Expr) -> Way | None:
        """The way on which a condition is true; None if there is none."""
        sets = self.narrowed(way.sets, condition)
        return None if sets is None else way.with_condition(condition, sets)

    def _switch(self, last: Instruction, way: Way) -> list[Way]:
        cases, default = switch_cases(last)
        value, width = self.value(last.operands[0], way), last.operands[0].type.bits
        found: list[Way] = []
        for case in cases:
            condition = self.decide(in_case(value, case, width), way)
            if condition is True:
                return [*found, self._edge(way, case.target)]
            if condition is not False:
                taken = self._taken(way, condition)
                if taken is not None:
                    found.append(self._edge(taken, case.target))
                other = self._taken(way, not_(condition))
                if other is None:
                    return found
                way = other
        return [*found, self._edge(way, default)]

    def _compute(self, instruction: Instruction, way: Way) -> Value:
        values = [self.value(operand, way) for operand in instruction.operands]
        if instruction.opcode == "load":
            return self._load(values[0], instruction.type.bits, way, self)
        for bad, _ in possible_faults(instruction, values, self._machine.settings.check_overflow):
            if self.decide(bad, way) is not False:
                raise Stuck("an operation that may fail")
        return result(instruction, values)

    def value(self, operand: Any, way: Way) -> Value:
        """The value of an operand. What translated code writes in line is not among the live values, and is
        computed again."""
        if not isinstance(operand, Local):
            return self._machine.layout.value(operand)
        index = self.unit.plan.index_of(operand)
        if index not in way.registers:
            _, definition = self.unit.plan.definition[index]
            if definition.opcode not in OPERATIONS:
                raise Stuck("a value that is not there")
            way.registers[index] = self._compute(definition, way)
        return way.registers[index]

    def _edge(self, way: Way, target: int) -> Way:
        """The way goes on to another block."""
        chosen = self.unit.plan.incoming(way.block, target)
        way.registers.update([(local.index, self.value(operand, way)) for local, operand in chosen])
        way.edges = (*way.edges, (way.block, target))
        way.block = target
        return way
