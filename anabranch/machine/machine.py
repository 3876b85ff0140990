"""The machine: runs a state until its path ends or goes back to the loop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from anabranch import expr
from anabranch.expr import Expr, expr_vars
from anabranch.ir.module import Module
from anabranch.ir.types import PTR, VOID
from anabranch.machine import defects, location
from anabranch.machine.addresses import AddressResolver
from anabranch.machine.api import ModelApi
from anabranch.machine.arithmetic import checked_arithmetic
from anabranch.machine.block_lengths import BlockLengths
from anabranch.machine.choices import Choices
from anabranch.machine.clock import Trap
from anabranch.machine.counters import Counters, CounterTable
from anabranch.machine.defects import DEFECTS
from anabranch.machine.ends import AT_EXIT, Exit, Fault, LongJump, Loss, PathEnd, ProgramError, Yield
from anabranch.machine.events import Events
from anabranch.machine.extent_checks import ExtentChecks
from anabranch.machine.forking import Decider
from anabranch.machine.interpreter import Interpreter
from anabranch.machine.intrinsics import Intrinsics
from anabranch.machine.known import Knowledge
from anabranch.machine.layout import Layout
from anabranch.machine.location import Where
from anabranch.machine.memory import Memory
from anabranch.machine.objects import ObjectNumbers
from anabranch.machine.path import Path, sample
from anabranch.machine.run_time import RunTime
from anabranch.machine.sanitizer import Sanitizer
from anabranch.machine.starts import Starts
from anabranch.machine.state import ROOT, Continuation, Extras, State
from anabranch.machine.stops import Stops
from anabranch.machine.translator.namespace import Namespace
from anabranch.machine.translator.program import (
    IntrinsicFinder,
    Model,
    ModelFinder,
    TranslatedProgram,
)
from anabranch.machine.translator.sites import StartSite
from anabranch.machine.undefined import Divisions
from anabranch.machine.uninitialised import Unknowns, Zeros
from anabranch.machine.values import load_value, store_value
from anabranch.semantics.casts import coerce, fit
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.operations import lanewise
from anabranch.semantics.switches import in_case
from anabranch.semantics.vectors import insert_value, reinterpret, select_value, shuffle
from anabranch.solver import SliceSpace, SolverUnknown
from anabranch.solver.few import few_values

Value = Any


class Tree(Protocol):
    """The execution tree as far as the machine writes it."""

    def fork(
        self,
        node: Any,
        block: int,
        condition: Any,
        polarity: bool = True,
        targets: tuple[int, int] | None = None,
    ) -> Any: ...

    def end(self, node: Any, block: int, reason: str) -> None: ...


class Observer(Protocol):
    """Is told what happens to paths, the moment it happens."""

    def path_ended(self, end: PathEnd, where: Where | None) -> None:
        """The running path ended; the machine still holds all of it."""

    def error_branch(self, fault: Fault, where: Where | None) -> None:
        """The running path would fail on some inputs; for this call it is constrained to them."""

    def lost(self, kind: str, where: Where | None) -> None: ...

    def warned(self, text: str) -> None: ...

    def assumed(self, asked: str, answer: str, where: Where | None) -> None:
        """The program asked for something to which there is one answer; told once for each question."""

    def defect(self, details: str) -> None:
        """The engine itself failed on the running path, which is lost."""


@dataclass(frozen=True, slots=True)
class MachineSettings:
    """How the machine runs."""

    check_overflow: bool = False
    max_stack_frames: int = 8192
    max_forks: int | None = None
    max_depth: int | None = None
    only_interpret: bool = False
    release_at_end: bool = False
    """Are the locals of `main` released when it returns, because a check reads the memory then?"""
    unknown_functions: bool = False
    """Does whatever the program declares and nobody defines exist somewhere else?"""
    capacity: int = 64
    """Bytes that are reserved at most for an object whose size depends on the input."""
    uninitialised: str = "error"
    """What fresh memory and locals hold: undefined data ("error"), unknown values ("symbolic") or "zero"."""


class Machine:
    """One program, one running path at a time. A subclass may make parts that do more (`recording.py`)."""

    def __init__(
        self,
        module: Module,
        table: CounterTable,
        tree: Tree,
        observer: Observer,
        space: SliceSpace,
        models: Callable[[str, ModelApi], Model | None],
        overridden: frozenset[str],
        external_globals: Mapping[str, bytes],
        settings: MachineSettings,
    ) -> None:
        self.module = module
        self.settings = settings
        self.tree = tree
        self.observer = observer
        self.space = space
        self.numbers = ObjectNumbers()
        self.memory = self.make_memory()
        self.path = Path(self.memory, space)
        self.api = self.make_api()
        self.sanitizer = Sanitizer(self)
        self.find_model: Callable[[str], Model | None] = lambda name: (
            self.sanitizer.model(name) or models(name, self.api)
        )
        self.layout = Layout(module, self.numbers, external_globals, self._provided)
        self.knowledge = Knowledge(self.path.slices)
        self.divisions = Divisions(self.knowledge)
        self.counters = Counters(table)
        self.run_time = self.make_run_time()
        self.addresses = self.make_addresses()
        self.extents = ExtentChecks(self, settings.capacity)
        self.memory.require = self.extents.require
        self.choices = Choices(self)
        self.lengths = BlockLengths(self)
        self.starts = Starts(self)
        self.memory.symbolic_load = self.addresses.load
        self.memory.symbolic_store = self.addresses.store
        self.namespace = Namespace(self.layout, self.numbers, checked_arithmetic(self.check))
        self.program = self.make_program(overridden, self.find_model, Intrinsics(self).find)
        self.program.only_interpret = settings.only_interpret
        self.program.release_at_end = settings.release_at_end
        self.program.choose_callee = self.choose_callee
        self.unknowns: Unknowns | None = None
        if settings.uninitialised == "symbolic":
            self.unknowns = Unknowns(self.path, self.numbers.new_site)
        contents = Zeros(self.memory) if settings.uninitialised == "zero" else self.unknowns
        if contents is not None:
            self.memory.blank = contents.fill
            self.program.first_value = contents.value
        self.interpreter = self.program.interpreter = self.make_interpreter()
        self.events = Events()
        self.extras = Extras()
        self.decider = Decider(self)
        self.trap = Trap(self)
        self.stops = Stops(self)
        self.base_depth = 0
        self._allowed_from = -1
        self._allowed_frames = 0
        self._warned: set[str] = set()
        self._assumed: set[str] = set()
        self.fill_namespace()

    # ---- parts ---------------------------------------------------------------------------------------

    def make_memory(self) -> Memory:
        return Memory(self.numbers)

    def make_api(self) -> ModelApi:
        return ModelApi(self)

    def make_run_time(self) -> RunTime:
        return RunTime(self)

    def make_addresses(self) -> AddressResolver:
        return AddressResolver(self)

    def make_interpreter(self) -> Interpreter:
        return Interpreter(self, self.program)

    def make_program(
        self, overridden: frozenset[str], models: ModelFinder, intrinsics: IntrinsicFinder
    ) -> TranslatedProgram:
        return TranslatedProgram(
            self.module,
            self.namespace,
            self.counters,
            overridden=overridden,
            models=models,
            intrinsics=intrinsics,
            check_overflow=self.settings.check_overflow,
        )

    def _provided(self, name: str) -> bool:
        return self.settings.unknown_functions or self.find_model(name) is not None

    def fill_namespace(self) -> None:
        memory, run_time = self.memory, self.run_time
        names: dict[str, Any] = {
            "S": memory.S,
            "W": memory.W,
            "N": self.counters.N,
            "Loss": Loss,
            "memory": memory,
            "load": memory.load,
            "store": memory.store,
            "alloca": memory.allocate,
            "new_address": memory.new_address,
            "begin_scope": memory.begin_scope,
            "release_stack": memory.release_stack,
            "load_value": load_value,
            "store_value": store_value,
            "in_case": in_case,
            "known": self.knowledge.known,
            "setjmp": self.setjmp,
            "check_failed": self.sanitizer.failed,
            "fit": fit,
            "coerce": coerce,
            "select_value": select_value,
            "lanewise": lanewise,
            "insert_value": insert_value,
            "shuffle": shuffle,
            "reinterpret": reinterpret,
        }
        for name in (
            "alloca_many", "stack_restore", "copy_argument", "va_start", "cmpxchg", "atomicrmw",
            "extract_lane", "insert_lane", "choose_case", "choose_label", "exit_status",
            "unreachable",
        ):  # fmt: skip
            names[name] = getattr(run_time, name)
        self.namespace.names.update(names)

    # ---- running -------------------------------------------------------------------------------------

    def start(self, entry: str, arguments: Callable[[ModelApi], list[Value]]) -> State:
        """The state before the first instruction of the entry function."""
        self.layout.install(self.memory)
        self.memory.freeze()
        function = self.program.find(entry)
        assert function is not None
        self.path.extras = self.extras.initial
        values = arguments(self.api)
        wanted = len(function.params)
        values = (values + [0] * wanted)[:wanted]
        first = StartSite(self.program.unit(function))
        state = self.path.save(None)
        state.entry = first
        state.values = tuple(values)
        state.continuation = ROOT
        state.place = first.place
        return state

    def run(self, state: State, budget: int) -> tuple[State | None, list[State]]:
        """Run a state: itself if it still waits, and the siblings that it forked off."""
        decider = self.decider
        decider.budget = budget
        siblings: list[State] = []
        decider.siblings = siblings
        self.path.restore(state)
        continuation = state.continuation
        if continuation[2] != self._allowed_from:
            self._allow_frames(continuation[2])
        for hear in self.events.entered:
            hear(state)
        if self.stops.installed:
            self.stops.entering(state)
        try:
            result = state.entry(continuation, state.values)
            while continuation[1] is not None:
                parent = continuation[0]
                result = continuation[1].resume(parent, continuation, result)
                continuation = parent
            if self.path.notes.get(AT_EXIT):
                self._run_exit(self._returned(result))
            else:
                self.observer.path_ended(self._returned(result), None)
        except Yield as stop:
            return stop.state, siblings
        except (PathEnd, LongJump, Unsupported, *DEFECTS) as event:
            return self._unwound(event), siblings
        return None, siblings

    def _unwound(self, event: BaseException) -> State | None:
        """What an exception that left the program means: an end, or a location to go on at."""
        while True:
            try:
                if isinstance(event, LongJump):
                    self._go_on(event.continuation, event.value)
                elif isinstance(event, Exit):
                    self._run_exit(event)
                else:
                    self._end(event)
                return None
            except Yield as stop:
                return stop.state
            except (PathEnd, LongJump, Unsupported, *DEFECTS) as again:
                event = again

    def _go_on(self, continuation: Continuation, result: Value) -> None:
        """Return `result` to the frame of a continuation and run on to the end of the program."""
        while continuation[1] is not None:
            parent = continuation[0]
            result = continuation[1].resume(parent, continuation, result)
            continuation = parent
        self._run_exit(self._returned(result))

    def _returned(self, result: Value) -> Exit:
        """The outermost function returned: the entry function, or a handler of `atexit`, which has no say."""
        return Exit(self.path.notes.get("exit status", 0 if result is None else result))

    def _run_exit(self, end: Exit) -> None:
        """Functions registered with `atexit`, last first, then the end itself."""
        while pending := self.path.notes.get(AT_EXIT):
            notes = self.path.notes.set("exit status", end.status)
            self.path.notes = notes.set(AT_EXIT, pending[:-1])
            function, *arguments = pending[-1]
            self.program.callee(function, ((PTR, False),) * len(arguments), VOID)(ROOT, *arguments)
        self._ended(end)

    def _allow_frames(self, depth: int) -> None:
        """Let Python nest as many calls as the program may still nest from that depth on."""
        self._allowed_from = depth
        left = max(1, self.settings.max_stack_frames - depth)
        nested = defects.INTERPRETED_FRAMES if self.settings.only_interpret else 1
        self._allowed_frames = nested * left
        sys.setrecursionlimit(self.base_depth + self._allowed_frames + defects.PYTHON_FRAMES)

    def _end(self, event: BaseException) -> None:
        """A defect in what is made of the end must not make it end again."""
        try:
            self._ended(event)
        except DEFECTS as defect:
            self.observer.defect(defects.details(defect))
            self.observer.lost("internal error", None)

    def _ended(self, event: BaseException) -> None:
        where = location.of_traceback(self.program, event.__traceback__)
        end: BaseException = event
        if isinstance(event, RecursionError) and defects.overflows_in_program(
            self.program, event, where, self._allowed_frames, self.settings.max_stack_frames
        ):
            end = ProgramError(Fault("stack-overflow", "stack overflow: calls nested too deeply"))
        elif isinstance(event, Unsupported):
            end = Loss("unsupported", str(event))
        elif isinstance(event, DEFECTS):
            self.observer.defect(defects.details(event))
            end = Loss("internal error", type(event).__name__)
        event.__traceback__ = None  # it holds the frames, and with them all their values
        assert isinstance(end, PathEnd)
        if where is not None:
            self.counters.cut(where.function, where.block, where.position)
        self.observer.path_ended(end, where)

    def activate(self) -> None:
        """Make this the machine that decides conditions in this process."""
        self.base_depth = depth_of(sys._getframe())
        self._allowed_from = -1
        self._undecided = Expr.__bool__
        Expr.__bool__ = self.decider.decide  # type: ignore[assignment, method-assign]

    def deactivate(self) -> None:
        """Nobody decides conditions any more."""
        Expr.__bool__ = self._undecided  # type: ignore[method-assign]

    def where(self) -> Where | None:
        """The instruction that runs now."""
        return location.of_caller(self.program, sys._getframe(1))

    # ---- errors and losses ---------------------------------------------------------------------------

    def check(self, bad: Value, fault: Fault) -> None:
        """Where `bad` holds, the path fails; it goes on where it does not."""
        if bad.__class__ is not Expr:
            if bad:
                raise ProgramError(fault)
            return
        part, answer = self.decider.ask(bad)
        if answer is False:
            return
        if answer is True:
            raise ProgramError(fault)
        assert part is not None
        where = self.where()
        path = self.path
        block = where.place if where is not None else 0
        before, node = path.condition, path.node
        path.node = self.tree.fork(node, block, bad, False)
        for index in part.vars:
            path.slices[index] = answer.yes
        path.condition = (bad, before)
        self.observer.error_branch(fault, where)
        path.node = node
        path.condition = before
        path.constrain(expr.not_(bad), answer.no)

    def lose(self, kind: str) -> None:
        self.observer.lost(kind, self.where())

    def fixed_answer(self, asked: str, answer: str) -> None:
        if asked not in self._assumed:
            self._assumed.add(asked)
            self.observer.assumed(asked, answer, self.where())

    def warn(self, text: str, once: bool = True) -> None:
        if not once or text not in self._warned:
            self._warned.add(text)
            self.observer.warned(text)

    # ---- questions about values ----------------------------------------------------------------------

    def sample(self, value: Value, width: int) -> int:
        """The value in the model of the path."""
        return sample(self.path.slices, value)

    def bounds(self, value: Value, width: int) -> tuple[int, int]:
        """The least and the greatest feasible unsigned value (or a safe range, if the solver gives up)."""
        if value.__class__ is not Expr:
            return int(value), int(value)
        parts = list(dict.fromkeys(self.path.slices[i] for i in expr_vars(value) if i >= 0))
        try:
            return self.space.minimum(parts, value), self.space.maximum(parts, value)
        except SolverUnknown:
            return 0, (1 << width) - 1

    def range_of(self, value: Value, width: int) -> tuple[int, int]:
        """A range that holds every feasible value, found without the solver."""
        if value.__class__ is not Expr:
            return int(value), int(value)
        parts = list(dict.fromkeys(self.path.slices[i] for i in expr_vars(value) if i >= 0))
        return self.space.range_of(parts, value)

    def few_values(self, value: Expr, limit: int) -> frozenset[int] | None:
        """A set of at most `limit` values that holds every feasible value, found without the solver."""
        parts = dict.fromkeys(self.path.slices[i] for i in expr_vars(value) if i >= 0)
        return few_values(value, {v: part.bounds[v] for part in parts for v in part.vars}, limit)

    def pick(self, value: Value, width: int, why: str) -> int:
        """One feasible value; siblings take the others."""
        while value.__class__ is Expr:
            chosen = self.sample(value, width)
            same = expr.eq(value, chosen, width)
            if same.__class__ is not Expr:
                return chosen
            if same:
                return chosen
        return int(value)

    def assume(self, condition: Value) -> bool:
        """Keep only what satisfies the condition; False, and nothing changed, if nothing does."""
        if condition.__class__ is not Expr:
            return bool(condition)
        _, answer = self.decider.ask(condition)
        if answer is True or answer is False:
            return answer
        self.path.constrain(condition, answer.yes)
        return True

    def choose_callee(self, address: Expr) -> int:
        """The function that a symbolic pointer means on this path."""
        return self.pick(address, 64, "function pointer")

    def setjmp(self, continuation: Continuation, buffer: Value) -> int:
        address = self.pick(buffer, 64, "jump buffer")
        target = (continuation, self.memory.stack_numbers())
        self.path.notes = self.path.notes.set(("jump", address), target)
        return 0


def depth_of(frame: Any) -> int:
    depth = 0
    while frame is not None:
        depth += 1
        frame = frame.f_back
    return depth
