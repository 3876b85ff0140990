"""Statements on objects whose sizes depend on the input: allocations, loops to their ends and beyond."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from bench.lib.gen.scope import Source
from bench.lib.gen.types import I16, U8, U32, CType

ELEMENTS = (U8, U8, U8, I16, U32)


@dataclass(frozen=True)
class Sized:
    """An object of `count` elements, where the count is an expression of the input."""

    name: str
    type: CType
    count: str
    heap: bool


class SizedStatements:
    """Writes statements; every one may be wrong for some sizes."""

    def __init__(self, rng: random.Random, source: Source, sizes: tuple[str, ...], data: str) -> None:
        self.rng = rng
        self.source = source
        self.sizes = sizes  # inputs that are small numbers
        self.data = data  # an input that is any byte
        self.objects: list[Sized] = []
        self.plain = True
        """No call of a library function that may fork by itself, and no decision on a byte at an unknown
        index that may be uninitialised: the path is then divided by where it is."""

    # --- expressions

    def size(self) -> str:
        """A number of elements."""
        rng = self.rng
        n = rng.choice(self.sizes)
        other = rng.choice(self.sizes)
        return rng.choice((n, n, f"({n} + 1u)", f"({n} + {other})", f"({n} * 2u)", f"({n} / 2u + 1u)"))

    def near(self, count: str) -> str:
        """An end of a loop: mostly the count itself, sometimes one less or one more."""
        choice = self.rng.random()
        if choice < 0.55:
            return count
        if choice < 0.75:
            return f"({count} - ({count} > 0u))" if choice < 0.65 else f"{count} / 2u"
        return f"{count} + 1u"

    def value(self) -> str:
        rng = self.rng
        return rng.choice((self.data, str(rng.randrange(1, 9)), f"({self.data} ^ {rng.randrange(16)}u)"))

    def target(self) -> Sized:
        return self.rng.choice(self.objects) if self.objects else self.heap()

    # --- objects

    def heap(self, count: str | None = None, ctype: CType | None = None) -> Sized:
        rng, source = self.rng, self.source
        made = Sized(source.fresh("h"), ctype or rng.choice(ELEMENTS), count or self.size(), True)
        size = f"{made.count} * sizeof *{made.name}"
        shape = rng.random()
        if shape < 0.7:
            source.statement(f"{made.type.name} *{made.name} = HEAP({size});")
        elif shape < 0.9:
            source.statement(f"{made.type.name} *{made.name} = ZEROED({made.count}, sizeof *{made.name});")
        else:
            # Less than nothing is so much that there is no such memory.
            source.statement(f"{made.type.name} *{made.name} = HEAP((u64)({made.count}) - 1u);")
            made = Sized(made.name, made.type, f"(({made.count} - 1u) / {made.type.bits // 8}u)", True)
            source.open(f"if (!{made.name})")
            source.statement("exit(3);")
            source.close()
        self.objects.append(made)
        return made

    def local(self) -> Sized:
        made = Sized(self.source.fresh("a"), self.rng.choice(ELEMENTS), f"({self.size()} + 1u)", False)
        self.source.statement(f"LOCAL_OF({made.type.name}, {made.name}, {made.count});")
        self.objects.append(made)
        return made

    # --- statements

    def fill(self) -> None:
        made = self.target()
        i = self.source.fresh("at")
        self.source.open(f"for (u32 {i} = 0; {i} < {self.near(made.count)}; {i}++)")
        value = self.rng.choice((self.value(), f"({i} + {self.data})"))
        self.source.statement(f"WR({made.name}[{i}]) = ({made.type.name}){value};")
        self.source.close()

    def scan(self) -> None:
        """Look for a value; what was never written must not be looked at."""
        made, source = self.target(), self.source
        self.cleared(made)
        i = source.fresh("at")
        source.open(f"for (u32 {i} = 0; {i} < {self.near(made.count)}; {i}++)")
        source.open(f"if (USE({made.name}[{i}]) == ({made.type.name}){self.value()})")
        source.statement(f"sink += {i} + 1;")
        source.statement(self.rng.choice(("break;", "break;", "sink++;", "exit(2);")))
        source.close()
        source.close()

    def backwards(self) -> None:
        made, source = self.target(), self.source
        self.plain = False
        self.cleared(made)
        i = source.fresh("at")
        source.statement(f"i32 {i} = (i32)({self.near(made.count)}) - 1;")
        guard = self.rng.choice((f"{i} >= 0 && ", f"{i} >= 0 && ", ""))
        source.open(f"while ({guard}USE({made.name}[{i}]) != ({made.type.name}){self.value()})")
        source.statement(f"{i}--;")
        source.close()
        source.statement(f"sink += (u64)(i64){i};")

    def cleared(self, made: Sized) -> None:
        if self.rng.random() < 0.85:
            size = f"{made.count} * sizeof *{made.name}"
            self.source.statement(f"MEMSET({made.name}, {self.rng.choice(('0', '1', self.data))}, {size});")

    def element(self) -> None:
        made, rng = self.target(), self.rng
        index = rng.choice(
            (self.data, f"({self.data} & 7u)", f"{rng.choice(self.sizes)}", f"((i32)({made.count}) - 1)",
             f"{rng.choice(self.sizes)} * 2u", f"((i32){rng.choice(self.sizes)} - 1)")
        )  # fmt: skip
        if rng.random() < 0.6:
            self.source.statement(f"WR({made.name}[{index}]) = ({made.type.name}){self.value()};")
        else:
            self.source.statement(f"sink ^= (u64)RD({made.name}[{index}]) & 0u;")

    def block(self) -> None:
        made = self.target()
        size = f"({self.near(made.count)}) * sizeof *{made.name}"
        self.source.statement(f"MEMSET({made.name}, {self.rng.randrange(3)}, {size});")

    def related(self) -> None:
        """Two objects, one as large as the other or nearly, and a copy between them."""
        made = self.target()
        other = self.heap(f"({self.near(made.count)})", made.type)
        to, source = (other, made) if self.rng.random() < 0.6 else (made, other)
        size = f"({self.rng.choice((made.count, self.near(made.count)))}) * sizeof *{made.name}"
        word = self.rng.choice(("MEMCPY", "MEMMOVE"))
        self.source.statement(f"{word}({to.name}, {source.name}, {size});")

    def grown(self) -> None:
        """`realloc` in a loop, an element more each time."""
        rng, source = self.rng, self.source
        name, k, n = source.fresh("g"), source.fresh("times"), rng.choice(self.sizes)
        step = rng.choice((1, 2))
        source.statement(f"u8 *{name} = HEAP({rng.choice(('0', '1', n))});")
        source.open(f"for (u32 {k} = 0; {k} < {n}; {k}++)")
        source.statement(f"{name} = RESIZED({name}, {k} * {step}u + {rng.choice(('1u', '2u'))});")
        source.statement(f"WR({name}[{k}{rng.choice(('', '', ' + 1u'))}]) = (u8){self.value()};")
        source.close()
        self.plain = False
        source.open(f"if ({n} > 1)")
        source.open(f"if (USE({name}[{rng.choice(('0', n + ' - 1', n + ' - 2'))}]) == 3)")
        source.statement("sink += 5;")
        source.close()
        source.close()

    def resized(self) -> None:
        """`realloc` to another size; what both have is kept."""
        made = self.target()
        if not made.heap:
            return
        count = self.size()
        self.source.statement(f"{made.name} = RESIZED({made.name}, {count} * sizeof *{made.name});")
        changed = Sized(made.name, made.type, count, True)
        self.objects[self.objects.index(made)] = changed
        if self.rng.random() < 0.5:
            self.plain = False
            self.source.open(f"if ({count} > 0)")
            self.source.open(f"if (USE({made.name}[0]) > 4)")
            self.source.statement("sink += 7;")
            self.source.close()
            self.source.close()

    def rows(self) -> None:
        """An array of pointers, each with an allocation of its own."""
        rng, source = self.rng, self.source
        name, i, j = source.fresh("r"), source.fresh("at"), source.fresh("j")
        n, m = rng.choice(self.sizes), rng.choice(self.sizes)
        width = rng.choice((f"{i} + 1u", m, f"{m} + 1u"))
        source.statement(f"u8 **{name} = ZEROED({n}, sizeof *{name});")
        source.open(f"for (u32 {i} = 0; {i} < {n}; {i}++)")
        source.statement(f"WR({name}[{i}]) = HEAP({width});")
        source.open(f"for (u32 {j} = 0; {j} < {self.near(width)}; {j}++)")
        source.statement(f"WR(RD({name}[{i}])[{j}]) = (u8)({i} + {j});")
        source.close()
        source.close()
        if rng.random() < 0.5:
            self.plain = False  # a row by a symbolic index is a choice of pointers
            source.open(f"if ({m} < {rng.choice((n, n + ' + 1u'))})")
            source.statement(f"sink += RD(RD({name}[{m}])[0]) & 0u;")
            source.close()

    def nested(self) -> None:
        rng, source = self.rng, self.source
        n, m = rng.choice(self.sizes), rng.choice(self.sizes)
        made = self.heap(f"({n} * {m})", rng.choice((U8, U8, I16)))
        i, j = source.fresh("at"), source.fresh("j")
        source.open(f"for (u32 {i} = 0; {i} < {self.near(n)}; {i}++)")
        source.open(f"for (u32 {j} = 0; {j} < {rng.choice((m, m, self.near(m)))}; {j}++)")
        source.statement(f"WR({made.name}[{i} * {m} + {j}]) = ({made.type.name})({i} ^ {j});")
        source.close()
        source.close()

    def text(self) -> None:
        """A string that ends at the last byte, or does not end."""
        source, n = self.source, self.rng.choice(self.sizes)
        name = source.fresh("s")
        source.statement(f"u8 *{name} = HEAP({n} + 1u);")
        source.statement(f"MEMSET({name}, {self.rng.choice(('65', self.data))}, {n} + 1u);")
        if self.rng.random() < 0.8:
            source.statement(f"WR({name}[(i32)({self.near(n)})]) = 0;")
        source.statement(f"sink += LENGTH({name});")
        self.plain = False

    def release(self) -> None:
        made = self.target()
        if made.heap:
            self.source.open(f"if ({self.rng.choice(self.sizes)} == {self.rng.randrange(5)})")
            self.source.statement(f"RELEASE({made.name});")
            self.source.close()

    def choice(self) -> None:
        """A branch on the input, so that paths with other sizes come together again."""
        source = self.source
        source.open(f"if ({self.data} & {1 << self.rng.randrange(4)})")
        source.statement(f"sink += {self.rng.randrange(1, 9)};")
        source.close()

    def statement(self) -> None:
        kinds: list[tuple[float, Callable[[], object]]] = [
            (3, self.fill), (3, self.scan), (1, self.backwards), (3, self.element), (2, self.block),
            (2, self.related), (1.5, self.grown), (1.5, self.resized), (1.5, self.rows), (1.5, self.nested),
            (1, self.text), (0.6, self.release), (1, self.heap), (1.5, self.local), (1, self.choice),
        ]  # fmt: skip
        weights, functions = zip(*kinds, strict=True)
        self.rng.choices(functions, weights)[0]()
