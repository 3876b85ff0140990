"""How exploration enters a program: the arguments of `main`, or the input of a fuzz target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch import expr
from anabranch.environment import program_arguments
from anabranch.explore.settings import ExploreSettings
from anabranch.explore.tree import ExecutionTree, Node
from anabranch.expr import Expr
from anabranch.ir.module import Function
from anabranch.machine import Machine, ModelApi, State

FUZZ_ENTRIES = ("LLVMFuzzerTestOneInput", "__anabranch_start_fuzz")
MAIN_ENTRIES = ("main", "__anabranch_start")
"""The function itself, and what runs before it in a program on a C library; both take the same arguments."""

Build = Callable[[ModelApi, Callable[[Any], bool]], list[Any]]


def entry_arguments(
    api: ModelApi, function: Function, settings: ExploreSettings, decide: Callable[[Any], bool]
) -> list[Any]:
    """The values that the entry function is called with."""
    if function.name in FUZZ_ENTRIES:
        return fuzz_arguments(api, settings.execution.max_len)
    if function.name in MAIN_ENTRIES:
        return program_arguments(api, settings.program_input, decide)[: len(function.params)]
    return []


def fuzz_arguments(api: ModelApi, max_len: int) -> list[Any]:
    """Symbolic data of every size up to `max_len`, in an object of just that size, as a fuzzer gives it."""
    size = api.fresh("fuzz_size", 64)
    api.assume(expr.ule(size, max_len, 64))
    api.lead_with(expr.eq(size, max_len, 64))
    data = api.allocate(max_len, "input", "fuzz_data", extent=size)
    api.make_symbolic(data, max_len, "fuzz_data")
    return [data, size]


def start_states(machine: Machine, tree: ExecutionTree, entry: str, build: Build) -> list[State]:
    """The states before the first instruction: one for each way to answer what `build` asks.

    There is no program yet that could fork, so `build` runs once for each combination of answers.
    """
    first = machine.start(entry, lambda api: [])
    wanted = len(first.values)
    path = machine.path
    states: list[State] = []
    pending: list[tuple[tuple[bool, ...], Node]] = [((), tree.start())]
    while pending:
        answers, node = pending.pop()
        first.node, first.number = node, node.number
        path.restore(first)
        given: list[bool] = []

        def decide(condition: Any, answers: Any = answers, node: Any = node, given: Any = given) -> bool:
            if condition.__class__ is not Expr:
                return bool(condition)
            _, answer = machine.decider.ask(condition)
            if answer is True or answer is False:
                return answer
            if len(given) < len(answers):
                side = bool(answers[len(given)])
            else:
                side = bool(answer.model_side)
                pending.append(((*given, not side), tree.fork(node, first.place, condition, side)))
                machine.decider.forks += 1
            given.append(side)
            path.depth += 1
            path.constrain(condition if side else expr.not_(condition), answer.yes if side else answer.no)
            return side

        values = build(machine.api, decide)
        state = path.save(path.condition)
        state.entry, state.continuation, state.place = first.entry, first.continuation, first.place
        state.values = tuple((values + [0] * wanted)[:wanted])
        state.node, state.number = node, node.number
        states.append(state)
    return states
