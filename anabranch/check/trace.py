"""How a bad value comes to its place: the origin, the branches on the way, the calls, the values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from anabranch.check.calls import CallEvent
from anabranch.check.conditions import Condition
from anabranch.check.events import Event
from anabranch.check.findings import Finding
from anabranch.check.freeing import Free
from anabranch.check.gate import Gated
from anabranch.check.leaves import Failure, Leaf, Memory, Operator, Parameter, Uninitialised, Unknown
from anabranch.check.program import Program
from anabranch.check.properties.null import FIRST_PAGE
from anabranch.expr import Expr, Value, evaluate, operands
from anabranch.expr.node import ITE, OR, VAR
from anabranch.ir.debug import DebugLoc
from anabranch.ir.types import to_signed

MAX_VALUES = 6
MAX_BRANCHES = 12
COMPARED = "the pointer is compared with NULL"
"""What a step says that is the only reason to think so."""


@dataclass(frozen=True, slots=True)
class Step:
    file: str
    line: int
    function: str
    words: str
    """What happens. Lines have fields of their own: records are kept while lines move."""
    onto: int = 0
    """The line where a branch goes on."""
    callee: str = ""
    """The function without a body whose result is the bad value."""

    @property
    def text(self) -> str:
        return f"{self.words} {self.onto}" if self.onto else self.words

    def as_json(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "function": self.function, "text": self.text}


@dataclass(frozen=True, slots=True)
class Shown:
    """A value under which something happens."""

    name: str
    value: str
    file: str = ""
    line: int = 0
    """Of an input: where it comes from."""

    @property
    def label(self) -> str:
        return f"{self.name} in line {self.line}" if self.line else self.name


def _step(loc: DebugLoc | None, function: str, text: str, callee: str = "") -> Step:
    return Step(loc.file if loc else "", loc.line if loc else 0, function, text, callee=callee)


def relevant_leaves(program: Program, finding: Finding) -> Iterator[Leaf]:
    """The leaves of the consequent and of the value that is bad, through the operators that were opened."""
    opened = finding.answer.opened
    evidence = finding.condition.evidence
    stack: list[Value] = [finding.bad]
    if evidence.__class__ is Expr and finding.condition.property.name == "uninitialised":
        stack.append(evidence)
    seen: set[Expr] = set()
    while stack:
        value = stack.pop()
        if value.__class__ is not Expr or value in seen:
            continue
        seen.add(value)
        if value.op == VAR:
            leaf = program.leaves.of(value)
            if value in opened:
                stack.append(opened[value])
            elif leaf is not None and not isinstance(leaf, Operator):
                yield leaf
        else:
            stack += _deciding(value, finding.answer.model)


def _deciding(value: Expr, model: dict[int, int]) -> list[Value]:
    """The operands that decide a value under a model: one side of a choice, what makes a disjunction true."""
    if value.op == ITE:
        return [value.a, value.b if evaluate(value.a, model) else value.c]
    if value.w == 1 and value.op == OR:
        for part in (value.a, value.b):
            if evaluate(part, model):
                return [part]
    return list(operands(value))


def source_name(program: Program, symbol: str) -> str:
    """The name of a function in the source."""
    function = program.module.functions.get(symbol)
    found = function.subprogram if function is not None else None
    return found.name if found is not None and found.name else symbol


def failed_function(program: Program, finding: Finding) -> Step | None:
    """The call of a function without a body whose result is the bad value."""
    if finding.condition.property.name != "null":
        return None
    for leaf in relevant_leaves(program, finding):
        if isinstance(leaf, Failure) and finding.answer.model.get(leaf.var.a):
            where = leaf.loc.function if leaf.loc is not None else ""
            return _step(leaf.loc, where, f"{leaf.function} returns NULL", leaf.function)
    return None


def late_test(finding: Finding) -> Step | None:
    """The place behind a dereference where the pointer is compared with NULL: it was expected to be."""
    gated, node = finding.condition.function, finding.condition.node
    pointer = gated.program.places.subject(finding.condition.evidence)
    for test, loc in gated.tests.get(pointer, ()) if pointer.__class__ is Expr else ():
        if gated.graph.tree.dominates(node, test) and loc is not None:
            return _step(loc, loc.function, "the pointer is compared with NULL only here")
    return None


def origin_of(program: Program, finding: Finding) -> Step | None:
    """Where the bad value comes from, if it is not the result of a function without a body."""
    for leaf in relevant_leaves(program, finding):
        if isinstance(leaf, Uninitialised):
            where = leaf.loc.function if leaf.loc is not None else ""
            return _step(leaf.loc, where, f"{leaf.name} is not initialised")
    if finding.condition.property.name == "freed":
        return _freed_origin(program, finding)
    if finding.condition.property.name != "null":
        return None
    tested = tested_pointer(program, finding)
    if tested is not None:
        return _step(tested, tested.function, COMPARED)
    return _constant_origin(finding) or _returned_origin(program, finding)


def tested_pointer(program: Program, finding: Finding) -> DebugLoc | None:
    """The place of the test that is the only reason to think that a pointer is NULL."""
    gated, model = finding.condition.function, finding.answer.model
    for leaf in relevant_leaves(program, finding):
        tests = gated.tests.get(leaf.var)
        if tests and isinstance(leaf, Parameter | Memory | Unknown) and model.get(leaf.var.a) == 0:
            return tests[0][1]
    return None


def _freed_origin(program: Program, finding: Finding) -> Step | None:
    """The last place, on the way that the model takes, where the object is freed."""
    condition = finding.condition
    gated, model, order = condition.function, finding.answer.model, condition.function.graph.cfg.number
    bases = {place.base for place in program.places.of(condition.evidence) if place.base is not None}
    best: tuple[int, DebugLoc | None, str] | None = None
    for node, events in enumerate(gated.memory.events):
        if not events or order[node] > order[condition.node] or not _taken(gated, node, model):
            continue
        for event in events:
            loc, text = _freeing(event, bases)
            if not text or (node == condition.node and not _before(loc, condition)):
                continue
            if best is None or order[node] >= best[0]:
                best = (order[node], loc, text)
    return None if best is None else _step(best[1], source_name(program, gated.name), best[2])


def _before(loc: DebugLoc | None, condition: Condition) -> bool:
    """Does a line come before the place of a condition, or before the call that leads there?"""
    place = condition.calls[0].loc if condition.calls else condition.loc
    return loc is None or place is None or (loc.line, loc.column) < (place.line, place.column)


def _freeing(event: Event, bases: set[Expr]) -> tuple[DebugLoc | None, str]:
    if isinstance(event, Free) and not bases.isdisjoint(event.bases()):
        return event.loc, "it is freed"
    if isinstance(event, CallEvent) and not bases.isdisjoint(event.freed):
        callee = event.site.callee
        return event.site.loc, f"{source_name(callee.program, callee.name)} frees it"
    return None, ""


def _constant_origin(finding: Finding) -> Step | None:
    """The last place, on the way that the model takes, where the constant NULL is assigned or returned."""
    condition = finding.condition
    gated, model = condition.function, finding.answer.model
    order = gated.graph.cfg.number
    best: tuple[int, DebugLoc] | None = None
    for node, loc in gated.null_places:
        if order[node] > order[condition.node] or not _taken(gated, node, model):
            continue
        if best is None or order[node] >= best[0]:
            best = (order[node], loc)
    return None if best is None else _step(best[1], best[1].function, "NULL is assigned")


def _returned_origin(program: Program, finding: Finding) -> Step | None:
    """The last place in a function whose result is the bad value where the constant NULL is assigned."""
    values = [finding.bad, *finding.answer.opened.values()]
    for leaf in (leaf for value in values for leaf in program.leaves.support(value)):
        if isinstance(leaf, Operator) and leaf.effect[0] == "null" and leaf.function in program.functions:
            callee = program.functions[leaf.function]
            if callee.null_places:
                place = callee.null_places[-1][1]
                return _step(place, place.function, "NULL is returned")
            tests = [loc for found in callee.tests.values() for _, loc in found if loc is not None]
            if tests:
                return _step(tests[-1], tests[-1].function, "the result can be NULL, as this test says")
    return None


def _taken(gated: Gated, node: int, model: dict[int, int]) -> bool:
    return all(c is True or evaluate(c, model) for c in gated.path(node))


def path_steps(finding: Finding) -> list[Step]:
    """The branches that must be taken to the place, from the entry of the function on."""
    gated, node = finding.condition.function, finding.condition.node
    graph, found = gated.graph, []
    while graph.tree.parent[node] >= 0:
        top = graph.tree.parent[node]
        if gated.gate[node] is not True:
            end = gated.function.blocks[graph.nodes[top].block].instructions[-1]
            onto = _side(gated, top, node, end.opcode)
            if end.loc is not None and onto not in (0, end.loc.line):  # not the parts of `a && b`
                found.append(Step(end.loc.file, end.loc.line, end.loc.function, "on to line", onto))
        node = top
    return list(reversed(found))[-MAX_BRANCHES:]


def _side(gated: Gated, top: int, node: int, opcode: str) -> int:
    """The line where a branch goes on: the compiler turns conditions round, so that true and false would
    mislead."""
    graph = gated.graph
    if len(graph.predecessors(node)) > 1 or opcode not in ("br", "switch"):
        return 0
    block = graph.nodes[node].block
    if block < 0:
        return 0
    places = (i.loc for i in gated.function.blocks[block].instructions if i.loc is not None and i.loc.line)
    place = next(places, None)
    return place.line if place is not None else 0


def in_order(origin: Step | None, branches: list[Step]) -> list[Step]:
    """The origin of a value among the branches on the way: by line, if it is in the same function."""
    if origin is None:
        return branches
    same = [step for step in branches if (step.file, step.function) == (origin.file, origin.function)]
    earlier = [step for step in same if step.line < origin.line]
    at = branches.index(earlier[-1]) + 1 if earlier else 0
    return [*branches[:at], origin, *branches[at:]]


def call_steps(program: Program, condition: Condition) -> list[Step]:
    steps = []
    for call in condition.calls:
        caller, callee = source_name(program, call.caller), source_name(program, call.callee)
        steps.append(_step(call.loc, caller, f"{caller} calls {callee}"))
    return steps


def shown_values(program: Program, finding: Finding) -> tuple[Shown, ...]:
    """Values of parameters, globals and inputs under which it happens: of those that the condition itself
    mentions."""
    found: dict[str, Shown] = {}
    model, condition = finding.answer.model, finding.condition
    for value in (condition.bad, *condition.antecedents):
        for leaf in program.leaves.support(value):
            number = model.get(leaf.var.a)
            name = "" if number is None else _name(program, condition.function, leaf)
            text = "" if number is None else _number(number, leaf, program.leaves.is_pointer(leaf.var.a))
            loc = leaf.loc if isinstance(leaf, Unknown) else None
            shown = Shown(name, text) if loc is None else Shown(name, text, loc.file, loc.line)
            if name and text and shown.label not in found and len(found) < MAX_VALUES:
                found[shown.label] = shown
    return tuple(found.values())


def _number(number: int, leaf: Leaf, pointer: bool) -> str:
    """The value of a leaf; that a pointer leads somewhere is not worth a word."""
    if pointer or (leaf.var.w == 64 and FIRST_PAGE <= number < -FIRST_PAGE % (1 << 64)):
        return "" if number else "NULL"
    return str(to_signed(number, leaf.var.w))


def _name(program: Program, gated: Gated, leaf: Leaf) -> str:
    if isinstance(leaf, Parameter):
        names = gated.function.param_names
        return names[leaf.index] if leaf.function == gated.name and leaf.index < len(names) else ""
    if isinstance(leaf, Memory) and program.is_global(leaf.base) and leaf.offset == 0:
        base = program.leaves.of(leaf.base)
        variable = program.module.globals.get(getattr(base, "name", ""))
        return variable.source_name if variable is not None else ""
    if isinstance(leaf, Unknown) and leaf.input and leaf.loc is not None:
        return leaf.reason
    return ""
