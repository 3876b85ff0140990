"""Checks a program: function by function, callees first; condition by condition.

Localized structural abstraction (section 4.2.4): a condition is checked in its own function first. One
that holds there, whoever calls, is never asked again. One that depends on the caller becomes a requirement
of the function, and is checked at every call. Only at a root, where nothing is known of the caller, it
ends without that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import process_time

from anabranch.check.conditions import Condition
from anabranch.check.decide import Decider
from anabranch.check.externals import Externals, load_externals
from anabranch.check.gate import Gated
from anabranch.check.leaves import Explicit, Freed, Operator, Undefined
from anabranch.check.noreturn import never_returning
from anabranch.check.order import Order, order_functions, unwritten_globals
from anabranch.check.program import Program
from anabranch.check.properties.assertion import Assertion
from anabranch.check.properties.base import Property
from anabranch.check.properties.bounds import OutOfBounds
from anabranch.check.properties.division import Division
from anabranch.check.properties.freed import UseAfterFree
from anabranch.check.properties.null import NullDereference, localised
from anabranch.check.properties.uninitialised import UninitialisedUse
from anabranch.check.refine import PROVED, REFUTED, Answer, Refinement
from anabranch.check.settings import CheckSettings
from anabranch.expr import Expr, Value, expr_vars, reset, substitute
from anabranch.ir.module import Module

REGISTRY: dict[str, Callable[[], Property]] = {
    "null": NullDereference,
    "assert": Assertion,
    "division": Division,
    "uninitialised": UninitialisedUse,
    "freed": UseAfterFree,
    "bounds": OutOfBounds,
}


@dataclass(slots=True)
class Finding:
    """A condition that can be violated, with the values that do it."""

    condition: Condition
    answer: Answer
    bad: Value
    """The negated consequent as it was asked."""
    open_to: str
    """What it depends on of callers that are not known: "parameters", only "globals", "elsewhere" (globals
    that no function here writes hold other values than their first), or nothing."""
    approximate: tuple[str, ...]
    """Reasons why values that it depends on were taken as unknown: it may be impossible. Of a bad value that
    flows only its own: that the place is reached is for the reader to see."""


@dataclass(slots=True)
class CheckResult:
    """What came of a check."""

    program: Program
    order: Order
    findings: list[Finding] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    """Conditions of functions by verdict: proved, refuted, undecided, left to the callers."""
    undecided: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    """Functions that could not be checked, with the reason."""
    seconds: dict[str, float] = field(default_factory=dict)
    queries: int = 0
    expansions: int = 0
    instructions: int = 0
    functions: int = 0
    conditions: int = 0


class Progress:
    """Is told how far a check has come; the default does not care."""

    def function(self, number: int, total: int, name: str, conditions: int) -> None: ...


class Checker:
    def __init__(
        self,
        module: Module,
        settings: CheckSettings | None = None,
        externals: Externals | None = None,
        progress: Progress | None = None,
    ) -> None:
        reset(structural=True)
        self.settings = settings or CheckSettings()
        properties = tuple(REGISTRY[name]() for name in self.settings.properties)
        self.program = Program(module, self.settings, externals or load_externals(), properties)
        self.program.never_return = never_returning(module, self.program.externals)
        self.order = order_functions(module, self.settings.all_functions, self.program.never_return)
        self.program.unwritten, self.program.unwritten_here = unwritten_globals(module)
        self.decider = Decider()
        self.result = CheckResult(self.program, self.order)
        self.progress = progress or Progress()

    def run(self) -> CheckResult:
        result, number = self.result, 0
        total = sum(map(len, self.order.components))
        for component in self.order.components:
            for name in component:
                number += 1
                self.progress.function(number, total, name, result.conditions)
                self._function(name)
        result.queries = self.decider.queries
        result.undecided.update(self.program.undecided)
        result.functions = total
        return result

    def _function(self, name: str) -> None:
        started = process_time()
        function = self.program.module.functions[name]
        try:
            gated = Gated(self.program, function).run()
        except RecursionError:
            self.result.failed[name] = "it is nested too deeply"
            return
        finally:
            self._spend("gating", started)
        self.result.instructions += sum(len(block.instructions) for block in function.blocks)
        started = process_time()
        limit = self.decider.spent + self.settings.function_polls
        for number, condition in enumerate(_nearest_first(gated.conditions)):
            self.result.conditions += 1
            with self.program.leaves.within(name, "condition", number):
                self._condition(gated, condition, limit)
        self._spend("conditions", started)
        self.program.functions[name] = gated

    def _spend(self, what: str, started: float) -> None:
        seconds = self.result.seconds
        seconds[what] = seconds.get(what, 0.0) + process_time() - started

    # -- one condition ----------------------------------------------------------------------------------

    def _condition(self, gated: Gated, condition: Condition, limit: int) -> None:
        own = self.refinement(condition, self.settings.any_null)
        if self.decider.spent > limit and own.consequent is not False:
            self.result.verdicts["undecided"] += 1
            self.result.undecided["the time of a function is up"] += 1
            return
        answer = own.check()
        self.result.expansions += len(answer.opened)
        if condition.property.flows:
            self._flowing(gated, condition, own, answer)
        else:
            self._plain(gated, condition, own, answer)

    def _flowing(self, gated: Gated, condition: Condition, own: Refinement, answer: Answer) -> None:
        """Is there a bad value here already? If not, a caller may still pass one."""
        if answer.verdict == REFUTED:
            self._report(condition, own, answer)
        elif answer.verdict != PROVED:
            self._undecided(answer)
        elif not condition.property.lifted or not self._passable(condition.bad):
            self.result.verdicts["proved"] += 1
        elif not self.order.callers.get(gated.name):
            self.result.verdicts["as the caller says"] += 1
        elif self._holds_for_all(condition):
            self.result.verdicts["proved"] += 1
        else:
            self._require(gated, condition)

    def _plain(self, gated: Gated, condition: Condition, own: Refinement, answer: Answer) -> None:
        if answer.verdict == PROVED:
            self.result.verdicts["proved"] += 1
        elif answer.verdict != REFUTED:
            self._undecided(answer)
        else:
            root = gated.name in self.order.roots
            if self.order.callers.get(gated.name):
                self._require(gated, condition)
                if not root or gated.name == "main":
                    return
            self._report(condition, own, answer)

    def _passable(self, bad: Value) -> bool:
        """May a caller make the consequent fail?"""
        leaves = self.program.leaves
        stack, seen = [bad], set()
        while stack:
            value = stack.pop()
            if value.__class__ is not Expr or value in seen:
                continue
            seen.add(value)
            for index in expr_vars(value):
                leaf = leaves.at(index)
                if isinstance(leaf, Explicit | Freed | Undefined) and leaves.visible(index):
                    return True
                if isinstance(leaf, Operator) and leaf.effect[0] in ("null", "freed"):
                    if leaf.operands is None:
                        return True
                    stack.extend(leaf.operands)
        return False

    def _holds_for_all(self, condition: Condition) -> bool:
        """Does it hold, whatever callers pass? One query with all operators closed: a cheap reason not to
        lift."""
        if condition.calls:
            return False
        check = self.refinement(condition, any_null=True)
        check.max_rounds = 1
        return check.check().verdict == PROVED

    def _require(self, gated: Gated, condition: Condition) -> None:
        if (same := self._same(gated, condition)) is not None:
            same.others.append(condition.antecedents)
            self.result.verdicts["left to the callers"] += 1
        elif len(gated.requirements) >= self.settings.max_requirements:
            self.result.verdicts["undecided"] += 1
            self.result.undecided["a function has too many conditions on its callers"] += 1
        else:
            gated.requirements.append(condition)
            self.result.verdicts["left to the callers"] += 1

    def _same(self, gated: Gated, condition: Condition) -> Condition | None:
        """A requirement about the same value, if it is about a value that flows: the nearest place is
        reported."""
        for requirement in gated.requirements:
            if requirement.property is condition.property and requirement.bad is condition.bad:
                return requirement if condition.property.flows else None
        return None

    def _undecided(self, answer: Answer) -> None:
        self.result.verdicts["undecided"] += 1
        self.result.undecided[answer.reason] += 1

    def _report(self, condition: Condition, own: Refinement, answer: Answer) -> None:
        self.result.verdicts["refuted"] += 1
        open_to = ""
        if any(self.program.initial_of(self.program.leaves.at(index)) is not None for index in answer.model):
            # Nothing here writes some of the globals: does it need other values than their first?
            first = self.refinement(condition, self.settings.any_null, initial=True)
            again = first.check()
            if again.verdict == REFUTED:
                own, answer = first, again
            elif again.verdict == PROVED:
                open_to = "elsewhere"
        if not open_to and not condition.property.flows:
            open_to = self._open_to(condition, own)
        approximate = own.approximations(consequent_only=condition.property.flows)
        self.result.findings.append(Finding(condition, answer, own.consequent, open_to, approximate))

    def _open_to(self, condition: Condition, own: Refinement) -> str:
        name = condition.function.name
        if name == "main":
            return ""
        open_to = self.program.leaves.left_open((own.consequent, *own.antecedents))
        if open_to == "globals" and self.order.callers.get(name):
            return "parameters"  # the callers that there are were asked
        return open_to

    def refinement(self, condition: Condition, any_null: bool, initial: bool = False) -> Refinement:
        """The condition as it is asked in the function itself: what callers pass is not bad. With `initial`,
        globals that no function here writes hold their initial values."""
        program, gated, node = self.program, condition.function, condition.node

        def localise(value: Value) -> Value:
            replaced = localised(program.leaves, gated, node, any_null, value)
            if not any_null and value.__class__ is Expr:
                for leaf in program.leaves.support(value):
                    if isinstance(leaf, Freed | Undefined):
                        replaced[leaf.var] = False
                    elif initial and (first := program.initial_of(leaf)) is not None:
                        replaced[leaf.var] = first
            return substitute(value, replaced) if replaced else value

        return Refinement(program, self.decider, condition.bad, condition.antecedents, localise)


def _nearest_first(conditions: list[Condition]) -> list[Condition]:
    return sorted(conditions, key=lambda condition: condition.depth())


def check_module(
    module: Module,
    settings: CheckSettings | None = None,
    externals: Externals | None = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Check all functions of a program."""
    return Checker(module, settings, externals, progress).run()
