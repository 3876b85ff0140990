"""The running path: everything of a state but its frames, in the form that runs fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import immutables

from anabranch.expr import Expr, eq, evaluate, expr_vars, variable
from anabranch.machine.memory import Memory
from anabranch.machine.state import Cons, Packed, State
from anabranch.solver import Slice, SliceSpace

FEW = 42  # variables whose slices wait as a map: the next larger map takes 2,272 bytes
NAMES = "names"
"""Note: a map from the names that the path has used to how often they were asked for."""


class CType(NamedTuple):
    """The C type of an input that was made as a value: its name, and how to read its bits."""

    name: str
    form: str
    """`signed`, `unsigned`, `bool`, `float` or `pointer`."""


@dataclass(frozen=True, slots=True)
class Input:
    """A symbolic object of the path: its name and the variables that its bytes are made of, in order."""

    name: str
    size: Any
    """Bytes that it has: of an object whose size depends on the input, the expression that says how many of
    those that the variables are made of."""
    variables: tuple[Expr, ...]
    stem: str = ""
    """The name that the program gave, if others before it on the path had the same."""
    type: CType | None = None
    """None for an array of bytes."""
    about: Any = None
    """What it belongs to, for whoever made it."""


class Path:
    """The path condition, inputs, output and notes of the path that runs now; fields as those of `State`.

    `slices` (variable -> slice of the path condition) keeps its identity, because hot code refers to it.
    `variables` are its keys as states share them, if these are many.
    """

    __slots__ = (
        "condition",
        "covered_new",
        "depth",
        "extras",
        "inputs",
        "instructions_since_new",
        "memory",
        "multiplicity",
        "node",
        "notes",
        "number",
        "output",
        "pending_tests",
        "slices",
        "space",
        "variables",
    )

    def __init__(self, memory: Memory, space: SliceSpace) -> None:
        self.memory = memory
        self.space = space
        self.slices: dict[int, Slice] = {}
        self.variables: tuple[int, ...] = ()
        self.condition: Cons = None
        self.inputs: Cons = None
        self.output: Cons = None
        self.pending_tests: tuple[Any, ...] = ()
        self.extras: tuple[Any, ...] = ()
        self.notes: immutables.Map[Any, Any] = immutables.Map()
        self.node: Any = None
        self.depth = 0
        self.number = 0
        self.covered_new = False
        self.instructions_since_new = 0
        self.multiplicity = 1

    def restore(self, state: State) -> None:
        """Make a waiting state the running path."""
        counts, self.notes = state.tables
        self.memory.restore(state.pages, state.objects, counts)  # type: ignore[arg-type]
        self.slices.clear()
        packed = state.packed
        if isinstance(packed, dict):
            self.variables = ()
            self.slices.update(packed)
        else:
            self.variables = packed[0]
            self.slices.update(zip(*packed, strict=True))
        self.condition = state.condition
        self.inputs = state.inputs
        self.output = state.output
        self.pending_tests = state.pending_tests
        self.extras = state.extras
        self.node = state.node
        self.depth = state.depth
        self.number = state.number
        self.covered_new = state.covered_new
        self.instructions_since_new = state.instructions_since_new
        self.multiplicity = state.multiplicity

    def save(self, condition: Cons) -> State:
        """A waiting state with this path's memory and slices, and the given path condition."""
        memory = self.memory
        memory.freeze()
        state = State()
        state.packed = self.pack()
        state.pages = memory.pages
        state.objects = memory.objects
        state.tables = (memory.counts, self.notes)
        state.condition = condition
        state.inputs = self.inputs
        state.output = self.output
        state.pending_tests = self.pending_tests
        state.extras = self.extras
        state.depth = self.depth
        state.multiplicity = self.multiplicity
        state.covered_new = False
        state.instructions_since_new = self.instructions_since_new
        return state

    def pack(self) -> Packed:
        """The slices as a waiting state keeps them: of few variables a map, which is quicker, of many what
        takes a fifth of its memory."""
        slices = self.slices
        if len(slices) <= FEW:
            return slices.copy()
        if len(slices) != len(self.variables):  # variables come, and never go
            self.variables = tuple(slices)
        return self.variables, tuple(slices.values())

    # ---- the path condition --------------------------------------------------------------------------

    def slice_of(self, indices: tuple[int, ...]) -> Slice:
        """The slice that holds all constraints on some variables."""
        slices = self.slices
        first = slices[indices[0]]
        for index in indices:
            if slices[index] is not first:
                return self.space.join(tuple(dict.fromkeys([slices[i] for i in indices])))
        return first

    def constrain(self, condition: Expr, now: Slice) -> None:
        """Add a constraint; `now` is the slice of its variables that includes it."""
        self.condition = (condition, self.condition)
        slices = self.slices
        for index in now.vars:
            slices[index] = now

    def lead_with(self, condition: Any) -> None:
        """Let the running path take the sides of inputs that satisfy a condition, where there are such."""
        if condition.__class__ is not Expr:
            return
        parts = {self.slices[index] for index in expr_vars(condition)}
        if len(parts) == 1:  # to make one slice of several costs more than the order gains
            now = self.space.led_by(parts.pop(), condition)
            for index in now.vars:
                self.slices[index] = now

    def fix(self, part: Slice) -> None:
        """Keep only the values of a slice's model, each variable in a slice of its own."""
        for index in part.vars:
            x = variable(index)
            value = part.model[index]
            same: Expr = eq(x, value if x.w > 1 else bool(value), x.w)
            fixed = self.space.assume(self.space.root(index), same)
            assert fixed is not None
            self.condition = (same, self.condition)
            self.slices[index] = fixed


def path_model(slices: dict[int, Any], value: Expr) -> dict[int, int]:
    """Values of an expression's variables in the models of their slices; undefined data is zero."""
    return {i: slices[i].model[i] for i in expr_vars(value) if i >= 0}


def sample(slices: dict[int, Any], value: Any) -> int:
    if value.__class__ is not Expr:
        return int(value)
    return int(evaluate(value, path_model(slices, value)))
