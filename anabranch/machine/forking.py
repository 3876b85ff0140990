"""Decisions on symbolic conditions, and forks by snapshot.

`bool(expression)` in translated code comes here. If the path condition forces the answer, it is given;
otherwise the live values of the frame that asked become a sibling state, and the running path goes on
with one side. A decision inside a model or a memory access makes a sibling that runs the whole
instruction again with the other answer known.

A condition that the solver does not decide in the little time it has at first puts the path back: it waits
at its instruction with nothing decided, and runs it again when the search order comes to it, with more time
for the solver. A check inside a call of a model cannot be put back, because models act after they have
decided and may have acted already; its query is asked again at once, with all the time it may have.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any

from anabranch.expr import Expr, expr_vars, not_
from anabranch.machine.ends import Fault, Loss, ProgramError, Yield
from anabranch.machine.interpreter import Frame, Interpreter
from anabranch.machine.state import Continuation, State
from anabranch.machine.translator.sites import BranchSite, PointSite, Postponed
from anabranch.machine.undefined import settled
from anabranch.solver import Slice, SolverUnknown, Split

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine
    from anabranch.machine.translator.writer import Mark

FORK_INSTRUCTIONS = 100  # between two forks, about: counting them for each path would cost too much
INTERPRETER_CODE = Interpreter.run.__code__


class Decider:
    """Answers conditions for one machine and makes the siblings."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.path = machine.path
        self.space = machine.space
        self.unknowns = machine.unknowns
        self.branches: dict[tuple[int, int], BranchSite] = {}
        # By code and instruction of a frame: its mark. Finding the line of a frame takes long in long code.
        self._marks: dict[tuple[int, int], Mark] = {}
        self.siblings: list[State] = []
        self.budget = 0  # forks until the running path goes back to the loop
        self.turn_ends: float | None = None  # the time after which it goes back at the next fork
        self.alone = False  # nobody else waits
        self.forks = 0
        self.postponed = 0
        """How often a path was put back because of a hard query."""
        self._limits = machine.space.limits
        self._attempt = 0  # how often the next hard query was put back
        self._again: Postponed | None = None  # the instruction that runs again in this turn
        self.max_forks = machine.settings.max_forks
        self.max_depth = machine.settings.max_depth
        self.restricted = self.max_forks is not None or self.max_depth is not None
        self._hear_fork = machine.events.forked
        self._hear_split = machine.events.split
        self._hear_wait = machine.events.waits
        self.decide = self._make_decide()

    # ---- deciding ------------------------------------------------------------------------------------

    def _make_decide(self) -> Callable[[Expr], bool]:
        slices, slice_of, fork, miss = self.path.slices, self.path.slice_of, self.fork, self.miss

        def decide(e: Expr) -> bool:
            indices = e.vs
            if indices is None:
                indices = expr_vars(e)
            try:
                part = slices[indices[0]] if len(indices) == 1 else slice_of(indices)
                answer = part.answers[e]
            except KeyError:
                answer = miss(e, indices)
                if answer is True or answer is False:
                    return answer
                part = slice_of(indices)
            if answer is True or answer is False:
                return answer
            return fork(e, part, answer)

        return decide

    def ask(self, e: Expr | bool) -> tuple[Slice | None, bool | Split]:
        """The answer for a condition without forking; with both sides feasible, the slice they divide.

        `x == 1` distributes over choices, and may be a constant although x is none.
        """
        if e.__class__ is not Expr:
            return None, bool(e)
        indices = e.vs
        if indices is None:
            indices = expr_vars(e)
        answer = self.miss(e, indices, False)
        if answer is True or answer is False:
            return None, answer
        return self.path.slice_of(indices), answer

    def miss(self, e: Expr, indices: tuple[int, ...], decides: bool = True) -> Any:
        """A condition not seen before in its slice. `decides`: will a path fork that has two sides?"""
        if indices[0] < 0:
            return self._undefined(e)
        if self.unknowns is not None:
            self.unknowns.decided(indices)
        part = self.path.slice_of(indices)
        answer = part.answers.get(e)
        if answer is not None:
            return answer
        limits = self._limits
        limits.begin(self._attempt)
        try:
            return self.space.decide(part, e)
        except SolverUnknown as unknown:
            return self._unknown(e, part, unknown.known_side, decides)
        finally:
            limits.attempt = None
            if self._attempt and limits.was_hard:
                self._attempt = 0

    def _unknown(self, e: Expr, part: Slice, side: bool, decides: bool) -> bool | Split:
        """The solver did not decide in the time it had: the path is put back while there is more. At the end
        it goes on with the inputs of the model alone, so that it does not come to queries as hard again; the
        others are lost."""
        limits = self._limits
        waits = limits.worth_waiting
        if waits:
            self._put_back(decides)
        limits.attempt = None
        if waits:  # but cannot: it has all its time now
            try:
                return self.space.decide(part, e)
            except SolverUnknown as unknown:
                side = unknown.known_side
        self.machine.lose("solver gave up")
        self.path.fix(part)
        return side

    def _put_back(self, decides: bool) -> None:
        """Let the running path wait at its instruction, if that can run again: it has changed nothing yet."""
        found = self._site(sys._getframe(1))
        if found is None:
            return  # outside the program
        point, values, continuation = found
        assert isinstance(point, PointSite)
        if not decides and point.instruction.opcode == "call":
            return
        before = self._again.attempt if self._again is not None and self._again.point is point else 0
        self.postponed += 1
        raise Yield(self.snapshot(Postponed(point, before + 1, self._run_again), values, continuation))

    def _run_again(self, site: Postponed | None) -> None:
        self._again = site
        self._attempt = 0 if site is None else site.attempt

    def _undefined(self, e: Expr) -> bool:
        """A condition on uninitialised data is an error if its value really depends on that data."""
        known = settled(self.machine, e)
        if known is None:
            raise ProgramError(Fault("uninitialised", "use of uninitialised memory", {"condition": e}))
        return bool(known)

    # ---- forking -------------------------------------------------------------------------------------

    def fork(self, e: Expr, part: Slice, answer: Split) -> bool:
        """Both sides are feasible: the sibling takes one, the running path the other."""
        frame = sys._getframe(2)
        site: BranchSite | PointSite | None = self.branches.get((id(frame.f_code), frame.f_lasti))
        path = self.path
        side = answer.model_side
        if self.restricted and self._may_not_fork():
            return self._stay(e, answer)
        values: tuple[Any, ...]
        continuation: Continuation
        if site is not None:
            local = frame.f_locals
            values = site.read(local)
            continuation = local["K"]
        else:
            site, values, continuation = self.find_site(frame)
        for hear in self._hear_fork:
            hear(site, continuation)
        self.forks += 1
        path.depth += 1
        if path.instructions_since_new:
            path.instructions_since_new += FORK_INSTRUCTIONS
        negated = e.neg
        if negated is None:
            negated = not_(e)
        if side:
            mine, his, here, there = answer.yes, answer.no, e, negated
        else:
            mine, his, here, there = answer.no, answer.yes, negated, e
        slices = path.slices
        for index in part.vars:
            slices[index] = his
        sibling = path.save((there, path.condition))
        for index in part.vars:
            slices[index] = mine
        path.condition = (here, path.condition)
        sibling.values = values
        sibling.continuation = continuation
        if site.__class__ is BranchSite:
            his_target = site.if_false if side else site.if_true
            sibling.entry = his_target
            sibling.place = his_target.place
            block, targets = site.place, site.targets
        else:
            assert isinstance(site, PointSite)
            sibling.entry = site
            block = sibling.place = site.place
            targets = None
            self.machine.counters.N[block] += 1
        sibling.node = self.machine.tree.fork(path.node, block, e, side, targets)
        sibling.number = sibling.node.number
        self.siblings.append(sibling)
        if self.alone:
            self.alone = False
            self.machine.trap.in_company()
        self.budget -= 1
        for listen in self._hear_split:
            if listen(site, side, sibling, mine):
                self.budget = 0
        if self.budget <= 0 or (self.turn_ends is not None and monotonic() >= self.turn_ends):
            self._yield(site, side, values, continuation)
        return side

    def _may_not_fork(self) -> bool:
        if self.max_forks is not None and self.forks >= self.max_forks:
            self.machine.lose("max-forks")
            return True
        if self.path.notes and self.path.notes.get("forking off"):
            self.machine.lose("forking switched off")
            return True
        if self.max_depth is not None and self.path.depth >= self.max_depth:
            raise Loss("max-depth")
        return False

    def _stay(self, e: Expr, answer: Split) -> bool:
        """Go on with the side that the model takes, the other is not explored."""
        side = answer.model_side
        self.path.constrain(e if side else not_(e), answer.yes if side else answer.no)
        return side

    def _yield(self, site: Any, side: bool, values: tuple[Any, ...], continuation: Continuation) -> None:
        """The batch is used up: the running path waits too."""
        entry = site
        if site.__class__ is BranchSite:
            entry = site.if_true if side else site.if_false
        raise Yield(self.snapshot(entry, values, continuation))

    def yield_after(self, frame: FrameType | None) -> None:
        """From within a call: the running path waits behind it. What the call returns is not kept."""
        found, _, _ = self.find_site(frame)
        after = found.unit.point(found.block, found.position + 1)  # type: ignore[union-attr]
        _, values, continuation = self.find_site(frame, after)
        self.machine.counters.N[after.place] += 1
        raise Yield(self.snapshot(after, values, continuation))

    def snapshot(self, entry: Any, values: tuple[Any, ...], continuation: Continuation) -> State:
        """The running path as a waiting state."""
        path = self.path
        state = path.save(path.condition)
        state.entry = entry
        state.values = values
        state.continuation = continuation
        state.place = entry.place
        state.node = path.node
        state.number = path.number
        state.covered_new = path.covered_new
        for hear in self._hear_wait:
            hear(state)
        return state

    def find_site(
        self, frame: FrameType | None, wanted: PointSite | None = None
    ) -> tuple[BranchSite | PointSite, tuple[Any, ...], Continuation]:
        """The site in the program that a Python frame works for (or the one wanted), with the values live
        there."""
        found = self._site(frame, wanted)
        if found is None:
            raise RuntimeError("a decision was asked for outside the program")
        return found

    def _site(
        self, frame: FrameType | None, wanted: PointSite | None = None
    ) -> tuple[BranchSite | PointSite, tuple[Any, ...], Continuation] | None:
        asked = frame
        while frame is not None:
            code = frame.f_code
            if id(code) in self.machine.program.codes:
                unit, marks = self.machine.program.codes[id(code)]
                at = (id(code), frame.f_lasti)
                mark = self._marks.get(at)
                if mark is None:
                    mark = self._marks[at] = marks[frame.f_lineno]
                local = frame.f_locals
                site: BranchSite | PointSite
                if wanted is not None:
                    site = wanted
                elif frame is asked and mark.kind == "branch":
                    site = self.branches[at] = unit.branch(mark)
                else:
                    site = unit.point(mark.block, mark.position)
                return site, site.read(local), local["K"]
            if code is INTERPRETER_CODE:
                interpreted: Frame = frame.f_locals["frame"]
                point = wanted or interpreted.unit.point(interpreted.block, interpreted.position)
                values = tuple(self.machine.interpreter.register(interpreted, name) for name in point.names)
                return point, values, interpreted.continuation
            frame = frame.f_back
        return None

    def arguments(self, frame: FrameType | None, continuation: Continuation) -> list[Any] | None:
        """What was passed to the call with this continuation, as far as the frames of the running path below
        a Python frame still know it."""
        codes = self.machine.program.codes
        while frame is not None:
            local: Mapping[str, Any] = frame.f_locals
            unit: Any = None
            if id(frame.f_code) in codes and local.get("K") is continuation:
                unit = codes[id(frame.f_code)][0]
            elif frame.f_code is INTERPRETER_CODE and local["frame"].continuation is continuation:
                unit, local = local["frame"].unit, local["frame"].registers
            if unit is not None:
                found = [local.get(f"v{param.index}") for param in unit.function.params]
                return None if any([value is None for value in found]) else found
            frame = frame.f_back
        return None
