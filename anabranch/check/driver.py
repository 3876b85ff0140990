"""Checks a program: function by function, callees first; condition by condition.

Localized structural abstraction (section 4.2.4): a condition is checked in its own function first. One
that holds there, whoever calls, is never asked again. One that depends on the caller becomes a requirement
of the function, and is checked at every call. Only at a root, where nothing is known of the caller, it
ends without that.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import process_time

from anabranch.check.conditions import Condition
from anabranch.check.decide import Decider
from anabranch.check.facts import Facts, facts_of
from anabranch.check.findings import Finding
from anabranch.check.gate import Gated
from anabranch.check.interface import form_of
from anabranch.check.leaves import Explicit, Freed, Leaf, Memory, Undefined
from anabranch.check.origins import bad_leaves
from anabranch.check.program import Program
from anabranch.check.properties.assertion import Assertion
from anabranch.check.properties.base import Property
from anabranch.check.properties.bounds import OutOfBounds
from anabranch.check.properties.division import Division
from anabranch.check.properties.freed import UseAfterFree
from anabranch.check.properties.null import NullDereference
from anabranch.check.properties.uninitialised import UninitialisedUse
from anabranch.check.records import CheckResult, FunctionRecord
from anabranch.check.recursion import tail_calls_as_loops
from anabranch.check.refine import PROVED, REFUTED, Answer, Refinement
from anabranch.check.reports import make_report
from anabranch.check.requirements import lifted
from anabranch.check.settings import CheckSettings
from anabranch.contracts import Externals, load_externals
from anabranch.expr import Value, bool_and, eq, not_, reset, substitute
from anabranch.ir.module import Module

REGISTRY: dict[str, Callable[[], Property]] = {
    "null": NullDereference,
    "assert": Assertion,
    "division": Division,
    "uninitialised": UninitialisedUse,
    "freed": UseAfterFree,
    "bounds": OutOfBounds,
}

SHARE = 6
"""A condition may use so large a part of what is left of the time of its function."""
SEVERAL = 4
"""Conditions for which there is time where more are asked together: those behind what is passed at a call,
and those of one place where a failure is reported. With time for one, a report of zlib was missed."""


class Checker:
    """Checks functions one by one. What it says of a function depends on nothing but the function and those
    that `Order.callees` names, so that the functions of a program can be checked in any order in which
    callees come first, or in several processes."""

    def __init__(
        self,
        module: Module,
        settings: CheckSettings | None = None,
        externals: Externals | None = None,
        facts: Facts | None = None,
        decider: Decider | None = None,
    ) -> None:
        reset(structural=True)
        module = tail_calls_as_loops(module)
        self.settings = settings or CheckSettings()
        properties = tuple(REGISTRY[name]() for name in self.settings.properties)
        self.program = Program(module, self.settings, externals or load_externals(), properties)
        self.facts = facts or facts_of(module, self.settings, self.program.externals)
        self.order = self.facts.order
        self.program.callees = self.order.callees
        self.program.targets = self.order.targets
        self.program.never_return = self.facts.never_return
        self.program.unwritten = self.facts.unwritten
        self.program.unwritten_here = self.facts.unwritten_here
        self.decider = decider or Decider(self.settings.solver)
        self.records: dict[str, FunctionRecord] = {}
        """What is known of the functions so far."""
        self.findings: list[Finding] = []
        """Of the functions that were checked here."""
        self.record = FunctionRecord("")
        """Of the function at hand."""
        self._limit = 0
        """Polls of the solver at which the time of that function is up."""
        self._reported: list[tuple[int, Condition]] = []
        """Conditions of the function at hand whose failure ends the program, and which were reported, with
        their places in `Gated.conditions`."""

    def run(self) -> CheckResult:
        """Check all functions."""
        result = CheckResult(self.order)
        with uncollected():
            for name in self.order.names():
                result.add(self.check(name))
        result.findings = self.findings
        return result

    def check(self, name: str) -> FunctionRecord:
        """Check one function. Those that it calls have been checked, here or elsewhere: `records` has
        them."""
        for callee in self.order.closure(name):
            if callee not in self.program.functions and callee != name:
                self._gate_again(callee)
        record = self.record = self.records[name] = FunctionRecord(name)
        self._reported = []
        self.program.count_in(record)
        before, asked, solving = len(self.findings), self.decider.queries, self.decider.seconds
        gated = self._gate(name)
        if gated is not None:
            started = process_time()
            if dropped := sum(record.undecided.values()):  # conditions of callees that are too far down
                record.conditions += dropped
                record.verdicts["undecided"] += dropped
            self._limit = self.decider.spent + self.settings.function_polls
            questions = self._questions(gated.conditions)
            for number, members in enumerate(questions):
                record.conditions += 1
                if number == self.settings.max_conditions:
                    left = len(questions) - number
                    record.conditions += left - 1
                    self._undecided("a function has too many conditions", left)
                    break
                with self.program.leaves.within(name, "condition", number):
                    if len(members) == 1:
                        self._condition(gated, *members[0])
                    else:
                        self._together(gated, members)
            record.spend("conditions", process_time() - started)
            record.form = form_of(gated)
        record.queries = self.decider.queries - asked
        record.spend("solving", self.decider.seconds - solving)
        record.reports = [make_report(self.program, finding) for finding in self.findings[before:]]
        return record

    def _gate(self, name: str) -> Gated | None:
        started = process_time()
        function = self.program.module.functions[name]
        try:
            gated = self.program.functions[name] = Gated(self.program, function).run()
        except RecursionError:
            self.record.failed = "it is nested too deeply"
            return None
        finally:
            lifting = self.record.seconds.get("lifting", 0.0)
            self.record.spend("gating", process_time() - started - lifting)
        self.record.instructions = sum(len(block.instructions) for block in function.blocks)
        return gated

    def _gate_again(self, name: str) -> None:
        """The gated form of a function that has been checked before, in another process or in an earlier run:
        with what it leaves to its callers."""
        known = self.records[name]
        self.record = FunctionRecord(name)
        self.program.count_in(self.record)
        gated = None if known.failed else self._gate(name)
        if gated is not None:
            for place in known.left:
                self._leave(gated, place)

    # -- one condition ----------------------------------------------------------------------------------

    def _questions(self, conditions: Iterable[Condition]) -> list[list[tuple[int, Condition]]]:
        """The conditions with their places, nearest first. Those about one place in a callee that were lifted
        through different calls are one question."""
        found: dict[object, list[tuple[int, Condition]]] = {}
        for number, condition in _nearest_first(conditions):
            lifted = condition.origin is not None and self.settings.strategy.localised
            found.setdefault(condition.place() if lifted else number, []).append((number, condition))
        return list(found.values())

    def _polls(self) -> int:
        """The limit of the next condition. Once half of the function's time is up it gets shorter, so that a
        dozen of hard conditions do not take all of it."""
        left = self._limit - self.decider.spent
        return min(self.settings.condition_polls, left // SHARE)

    def _condition(self, gated: Gated, place: int, condition: Condition) -> None:
        if not self.settings.strategy.localised and self.order.callers.get(gated.name):
            self._left(self._leave(gated, place))
            if gated.name not in self.order.roots:
                return
        condition = self._after(place, condition)
        own = self._own(condition)
        answer = own.check(self._polls())
        self.record.expansions += len(answer.opened)
        if condition.property.flows:
            self._flowing(gated, place, condition, own, answer)
        else:
            self._plain(gated, place, condition, own, answer)

    def _together(self, gated: Gated, members: list[tuple[int, Condition]]) -> None:
        """Can a place in a callee fail, through whatever calls it is reached? They share the time of a
        condition. Where callers decide it anyway, the first that can fail is enough."""
        asked_again = bool(self.order.callers.get(gated.name))
        reported = not asked_again or (gated.name in self.order.roots and gated.name != "main")
        limit = self.decider.spent + self._polls() * (SEVERAL if reported else 1)
        reasons: list[str] = []
        failed = 0
        unproved: list[int] = []
        for number, (place, condition) in enumerate(members):
            condition = self._after(place, condition)
            own = self._own(condition)
            answer = own.check(min(self.settings.condition_polls, limit - self.decider.spent))
            self.record.expansions += len(answer.opened)
            if answer.verdict == PROVED:
                continue
            unproved.append(place)
            if answer.verdict != REFUTED:
                reasons.append(answer.reason)
                continue
            failed += 1
            if not reported:
                unproved += [later for later, _ in members[number + 1 :]]
                break
            self.record.conditions += failed > 1
            self._report(place, condition, own, answer)
        if failed and asked_again:
            self._left(all([self._leave(gated, place) for place in unproved]))
        elif reasons and not failed:
            self._undecided(reasons[0])
        elif not unproved:
            self.record.verdicts["proved"] += 1

    def _flowing(
        self, gated: Gated, place: int, condition: Condition, own: Refinement, answer: Answer
    ) -> None:
        """Is there a bad value here already? If not, a caller may still pass one."""
        if answer.verdict == REFUTED:
            if condition.passing is None:
                self._report(place, condition, own, answer)
            else:
                self._behind(place, condition)
        elif answer.verdict != PROVED:
            self._undecided(answer.reason)
        elif not self.program.summaries.origins.of(condition.bad).passed:
            self.record.verdicts["proved"] += 1
        elif not self.order.callers.get(gated.name) or not self.settings.strategy.localised:
            self.record.verdicts["as the caller says"] += 1
        elif condition.passing is None and self._holds_for_all(condition):
            self.record.verdicts["proved"] += 1
        else:
            self._left(self._leave(gated, place))

    def _after(self, place: int, condition: Condition) -> Condition:
        """What was reported on every way to a condition is assumed to have gone well: its consequences are
        not reported again."""
        tree = condition.function.graph.tree
        well = tuple(
            not_(bool_and(before.path(), before.bad))
            for where, before in self._reported
            if where < place and tree.dominates(before.node, condition.node)
        )
        return replace(condition, antecedents=(*condition.antecedents, *well)) if well else condition

    def _behind(self, place: int, passing: Condition) -> None:
        """A bad value comes to a call: which of the conditions that depend on it can fail?"""
        assert passing.passing is not None
        site, requirement = passing.passing
        limit = self.decider.spent + SEVERAL * self._polls()
        for number, inner in enumerate(requirement.behind()):
            if number == self.settings.max_behind or self.decider.spent >= limit:
                self._undecided("too many conditions depend on what is passed")
                return
            condition = self._after(place, lifted(inner, site))
            if condition.bad is False:
                continue
            own = self._own(condition)
            answer = own.check(min(self.settings.condition_polls, limit - self.decider.spent))
            self.record.conditions += 1
            self.record.expansions += len(answer.opened)
            if answer.verdict == REFUTED:
                self._report(place, condition, own, answer)
                if not self.findings[-1].approximate:
                    return
            elif answer.verdict == PROVED:
                self.record.verdicts["proved"] += 1
            else:
                self._undecided(answer.reason)

    def _plain(self, gated: Gated, place: int, condition: Condition, own: Refinement, answer: Answer) -> None:
        if answer.verdict == PROVED:
            self.record.verdicts["proved"] += 1
        elif answer.verdict != REFUTED:
            self._undecided(answer.reason)
        else:
            root = gated.name in self.order.roots
            if self.order.callers.get(gated.name) and self.settings.strategy.localised:
                self._left(self._leave(gated, place))
                if not root or gated.name == "main":
                    return
            self._report(place, condition, own, answer)

    def _holds_for_all(self, condition: Condition) -> bool:
        """Does it hold, whatever callers pass? Only what is seen at once: a cheap reason not to lift."""
        return self.refinement(condition, any_null=True).folds()

    def _leave(self, gated: Gated, place: int) -> bool:
        """Is the condition at a place of `gated.conditions` one of the callers now? Nothing is asked here: it
        is done again when the gated form is made again."""
        condition = gated.conditions[place]
        if condition.property.flows and self.settings.strategy.localised:
            for leaf in self.program.summaries.origins.of(condition.bad).in_order():
                gated.require(leaf, condition)
        elif len(gated.lifted) < self.settings.max_requirements:
            gated.lifted.append(condition)
        else:
            return False
        self.record.left.append(place)
        return True

    def _left(self, done: bool) -> None:
        if done:
            self.record.verdicts["left to the callers"] += 1
        else:
            self._undecided("a function has too many conditions on its callers")

    def _undecided(self, reason: str, count: int = 1) -> None:
        self.record.verdicts["undecided"] += count
        self.record.undecided[reason] += count

    def _report(self, place: int, condition: Condition, own: Refinement, answer: Answer) -> None:
        self.record.verdicts["refuted"] += 1
        if condition.property.ends and condition.bad is not True:
            self._reported.append((place, condition))
        open_to = ""
        leaves = self.program.leaves
        known = {index: self.program.initial_of(leaves.at(index)) for index in answer.model}
        initial = {index: value for index, value in known.items() if value.__class__ is int}
        if initial:
            # Nothing here writes some of the globals: does it need other values than their first?
            first = self._own(condition, initial=True)
            again = first.check()
            if again.verdict == REFUTED:
                own, answer = first, again
                answer.model.update(initial)  # which the steps of the report follow
            elif again.verdict == PROVED:
                open_to = "elsewhere"
        if not open_to and not condition.property.flows:
            open_to = self._open_to(condition, own)
        property = condition.property
        reasons = own.approximations(consequent_only=property.flows and property.believes_paths)
        doubts = [*property.doubts(condition.function, condition.evidence)]
        if property.doubts_cycles and self._needs_cycle(condition, answer):
            doubts.append("an object holds a pointer to itself")
        approximate = tuple(sorted({*reasons, *doubts}))
        self.findings.append(Finding(condition, answer, own.consequent, open_to, approximate))

    def _open_to(self, condition: Condition, own: Refinement) -> str:
        name = condition.function.name
        if name == "main":
            return ""
        open_to = self.program.leaves.left_open((own.consequent, *own.antecedents))
        if open_to == "globals" and self.order.callers.get(name):
            return "parameters"  # the callers that there are were asked
        return open_to

    def _needs_cycle(self, condition: Condition, answer: Answer) -> bool:
        """Is nothing known of how it happens unless some object, as the function finds it, holds a pointer to
        itself?"""
        apart: Value = True
        for index, value in answer.model.items():
            leaf = self.program.leaves.at(index)
            if isinstance(leaf, Memory) and value and answer.model.get(leaf.base.a) == value:
                apart = bool_and(apart, not_(eq(leaf.var, leaf.base, leaf.var.w)))
        if apart is True:
            return False
        again = replace(condition, antecedents=(*condition.antecedents, apart))
        return self._own(again).check().verdict != REFUTED

    def _own(self, condition: Condition, initial: bool = False) -> Refinement:
        """The condition as it is checked in its function. `--null any` doubts what unknown callers pass;
        known ones are asked."""
        asked = condition.function.name not in self.order.roots
        return self.refinement(condition, self.settings.any_null, initial, asked)

    def refinement(
        self, condition: Condition, any_null: bool, initial: bool = False, asked: bool = False
    ) -> Refinement:
        """The condition as it is asked in the function itself: what callers pass is not bad, unless they are
        doubted (`any_null`) and not `asked` later. With `initial`, globals that no function here writes hold
        their initial values."""
        program, gated, node = self.program, condition.function, condition.node
        leaves = program.leaves

        def localise(value: Value) -> Value:
            replaced = {
                leaf.var: self._local(
                    leaf, gated, node, any_null and not (asked and leaves.visible(leaf.var.a))
                )
                for leaf in bad_leaves(leaves, value)
            }
            if initial:
                for leaf in leaves.support(value):
                    if (first := program.initial_of(leaf)) is not None:
                        replaced[leaf.var] = first
            return substitute(value, replaced) if replaced else value

        return Refinement(program, self.decider, condition.bad, condition.antecedents, localise)

    def _local(self, leaf: Leaf, gated: Gated, node: int, any_null: bool) -> Value:
        """A bad leaf, when the callers are not looked at."""
        if isinstance(leaf, Explicit):
            return eq(leaf.of, 0, 64) if any_null or gated.tested_near(leaf.of, node) else False
        if isinstance(leaf, Freed | Undefined):
            return leaf.var if any_null else False
        origin = self.program.summaries.origins.of(leaf.var)
        if origin.own or any_null:
            return leaf.var
        for passed in origin.passed:
            inner = self.program.leaves.of(passed)
            if isinstance(inner, Explicit) and gated.tested_near(inner.of, node):
                return leaf.var
        return False


@contextmanager
def uncollected() -> Iterator[None]:
    """Without garbage collection: nearly all that a check makes stays to its end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _nearest_first(conditions: Iterable[Condition]) -> list[tuple[int, Condition]]:
    return sorted(enumerate(conditions), key=lambda numbered: numbered[1].depth())
