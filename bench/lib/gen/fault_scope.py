"""What statements with faults share: objects that the native run-time knows, rare conditions, results."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from bench.lib.gen.expressions import Expressions
from bench.lib.gen.scope import Scope, Source
from bench.lib.gen.statements import Statements
from bench.lib.gen.types import I16, I32, U8, U16, U32, U64, CType, convert

ELEMENTS = (U8, U8, U16, I16, U32, I32, U64)


@dataclass(frozen=True)
class Tracked:
    """An array whose state the native run-time knows.

    ``name`` is what comes before an index: `V(a)` for a variable, `p` for a pointer. Only a variable has a
    bound that the compiler knows.
    """

    name: str
    type: CType
    count: int
    variable: bool
    readonly: bool = False

    @property
    def size(self) -> int:
        return self.count * self.type.bits // 8

    def element(self, index: str) -> str:
        return f"{self.name}[IDX({index}, {self.count})]" if self.variable else f"{self.name}[{index}]"


FaultKind = Callable[["FaultStatements", Scope], None]


class FaultStatements(Statements):
    """Random statements of which a share are faults."""

    def __init__(
        self,
        rng: random.Random,
        source: Source,
        expressions: Expressions,
        kinds: dict[FaultKind, float],
        share: float = 0.35,
    ) -> None:
        super().__init__(rng, source, expressions, exact=False)
        self.kinds = kinds
        self.share = share
        self.globals: list[Tracked] = []
        self.writers: list[tuple[str, Tracked]] = []  # functions that give away the address of a local

    def statement(self, scope: Scope) -> None:
        if self.rng.random() < self.share:
            self.fault(scope)
        else:
            super().statement(scope)

    def fault(self, scope: Scope) -> None:
        (kind,) = self.rng.choices(list(self.kinds), list(self.kinds.values()))
        kind(self, scope)

    def _output(self, scope: Scope) -> None:
        self._assign(scope)

    # --- conditions

    def bits(self, scope: Scope, mask: int) -> str:
        """A few bits of an input, or of something computed."""
        if scope.inputs and self.rng.random() < 0.7:
            variable = self.rng.choice(scope.inputs)
            return f"((u32){variable.name} >> {self.rng.randrange(0, 5)} & {mask}u)"
        return f"({convert(self.value(scope, 1), U32).text} & {mask}u)"

    def rare(self, scope: Scope) -> str:
        """A condition that holds for a smaller share of the inputs, so that the others go on."""
        mask = self.rng.choice((7, 15, 31))
        return f"{self.bits(scope, mask)} == {self.rng.randrange(mask + 1)}u"

    def guarded(self, scope: Scope, write: Callable[[Scope], None]) -> None:
        """Statements that a rare condition leads to: for faults that every run shows."""
        self.source.open(f"if ({self.rare(scope)})")
        write(scope.inner())
        self.source.close()

    # --- results

    def unused(self, text: str, ctype: CType, computed: bool = False) -> None:
        """Evaluate an expression whose result is mostly not used; ``computed``: not just an lvalue."""
        rng, source = self.rng, self.source
        shape = rng.choice(
            ("variable", "variable", "overwritten", "used", "used", *(("bare",) if computed else ()))
        )
        if shape == "used":
            return source.statement(f"sink ^= (u64)({text});")
        if shape == "bare":
            return source.statement(f"(void)({text});")
        name = source.fresh("unused")
        source.statement(f"{ctype.name} {name} = {text};")
        if shape == "overwritten":
            source.statement(f"{name} = 1;")

    def written(self, element: str, value: str = "1") -> None:
        self.source.statement(f"WR({element}) = {value};")

    # --- objects

    def array(self, scope: Scope, filled: bool = True) -> Tracked:
        """A local array of its own."""
        rng, source = self.rng, self.source
        ctype, count = rng.choice(ELEMENTS), rng.choice((1, 2, 3, 4, 4, 5, 7))
        name = source.fresh("a")
        if filled:
            items = ", ".join(convert(self.value(scope, 1), ctype).text for _ in range(count))
            source.statement(f"LOCAL_IS({ctype.name}[{count}], {name}, {items});")
        else:
            source.statement(f"LOCAL({ctype.name}[{count}], {name});")
        return Tracked(f"V({name})", ctype, count, variable=True)

    def heap(self, scope: Scope) -> Tracked:
        """A filled heap block of its own."""
        rng, source = self.rng, self.source
        ctype, count = rng.choice(ELEMENTS), rng.choice((1, 2, 3, 4, 6))
        name = source.fresh("h")
        source.statement(f"{ctype.name} *{name} = HEAP({count} * sizeof *{name});")
        source.statement(f"MEMSET({name}, {rng.randrange(4)}, {count} * sizeof *{name});")
        return Tracked(name, ctype, count, variable=False)

    def any_array(self, scope: Scope, writable: bool = False) -> Tracked:
        """A local, global or heap array whose bytes were all written."""
        choice = self.rng.random()
        globals_ = [t for t in self.globals if not (writable and t.readonly)]
        if choice < 0.3 and globals_:
            return self.rng.choice(globals_)
        return self.heap(scope) if choice < 0.5 else self.array(scope)

    def pointer_to(self, tracked: Tracked, index: str = "0") -> Tracked:
        """The same array by a pointer variable, whose bound no compiler knows."""
        name = self.source.fresh("p")
        self.source.statement(f"{tracked.type.name} *{name} = {tracked.name} + {index};")
        return Tracked(name, tracked.type, tracked.count, variable=False, readonly=tracked.readonly)

    def outside(self, scope: Scope, count: int) -> str:
        """An index that a few inputs move outside."""
        mask = (1 << count.bit_length()) - 1
        choice = self.rng.random()
        if choice < 0.35:
            return self.bits(scope, mask)
        if choice < 0.55:
            return f"((i32){self.bits(scope, mask)} - 1)"
        if choice < 0.7:
            return f"(u8)({self.bits(scope, 255)} / 16u)"
        # mostly zero
        return f"({self.rare(scope)} ? {self.rng.choice((count, count + 1, -1, 100))} : 0)"

    def constant_outside(self, count: int) -> int:
        return self.rng.choice((count, count, count + 1, count + 9, -1, -2, 200))
