"""Pointers that may be null, dangling or lead to one of several objects, and a list on the heap.

Paths that chose different pointers meet again behind each statement, so that merged states hold choices
between null, arrays, heap objects and freed ones. Whatever is read or freed through such a pointer is checked
natively (ELEM, PTR, FREE), which names the kind of error that the engine has to find.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.lib.gen.scope import Scope
from bench.lib.gen.statements import Statements
from bench.lib.gen.types import U32, convert

COUNT = 4  # elements of every object that these pointers lead to


class Pointers:
    """Writes statements about a few pointers, some of them global, and a list."""

    def __init__(self, statements: Statements) -> None:
        self.s = statements
        self.rng = statements.rng
        self.pools: list[str] = []
        self.names: list[str] = []
        self.lists: list[str] = []

    def globals(self) -> None:
        """What lives as long as the program: arrays, pointers, the list."""
        source = self.s.source
        for _ in range(self.rng.randrange(1, 3)):
            name = source.fresh("pool")
            source.raw(f"STATE static u32 {name}[{COUNT}] = {{3, 1, 4, 1}};")
            self.pools.append(name)
        for _ in range(self.rng.randrange(1, 3)):
            name = source.fresh("ptr")
            source.raw(f"STATE static u32 *{name} = 0;")
            self.names.append(name)
        if self.rng.random() < 0.5:
            source.raw("struct cell { u32 key; struct cell *next; };")
            name = source.fresh("list")
            source.raw(f"STATE static struct cell *{name} = 0;")
            self.lists.append(name)

    def locals(self) -> None:
        """Pointers of `main`, which live in registers."""
        source = self.s.source
        for _ in range(self.rng.randrange(0, 3)):
            name = source.fresh("q")
            source.statement(f"u32 *{name} = {self.rng.choice(('0', *self.pools))};")
            self.names.append(name)

    def statement(self, scope: Scope) -> None:
        """One statement (or a few) about them."""
        self.s.library_forks = True
        kinds: list[Callable[[Scope], None]] = [
            self.move, self.move, self.move, self.tested, self.tested, self.rounds, self.read, self.release,
        ]  # fmt: skip
        if self.lists:
            kinds += [self.push, self.push, self.pop, self.walk, self.first]
        self.rng.choice(kinds)(scope)

    # --- arrays

    def move(self, scope: Scope) -> None:
        """Let a pointer lead somewhere else, on some paths."""
        source = self.s.source
        name = self.rng.choice(self.names)
        source.open(f"if ({self.s.condition(scope)})")
        self._assign(name)
        if self.rng.random() < 0.4:
            source.indent -= 1
            source.raw("} else {")
            source.indent += 1
            self._assign(name)
        source.close()

    def _assign(self, name: str) -> None:
        source, kind = self.s.source, self.rng.random()
        if kind < 0.35:
            source.statement(f"{name} = malloc({COUNT} * sizeof *{name});")
            source.statement(f"memset({name}, {self.rng.randrange(256)}, {COUNT} * sizeof *{name});")
        elif kind < 0.7:
            source.statement(f"{name} = {self.rng.choice(self.pools)};")
        elif kind < 0.85:
            source.statement(f"{name} = {self.rng.choice(self.names)};")
        else:
            source.statement(f"{name} = 0;")

    def _element(self, scope: Scope, name: str) -> str:
        """An element, now and then one that is not there."""
        value = convert(self.s.value(scope), U32).text
        kind = self.rng.random()
        if kind < 0.6:
            index = f"({value} & {COUNT - 1}u)"
        elif kind < 0.8:
            index = str(self.rng.randrange(COUNT))
        else:
            index = self.rng.choice((f"((i32)({value} & 7u) - 2)", f"({value} & 7u)"))
        return f"ELEM({name}, {index}, {COUNT})"

    def _use(self, scope: Scope, name: str) -> None:
        if self.rng.random() < 0.3:
            self.s.source.statement(
                f"{self._element(scope, name)} = {convert(self.s.value(scope), U32).text};"
            )
        else:
            self.s.source.statement(f"sink ^= (u64){self._element(scope, name)};")

    def tested(self, scope: Scope) -> None:
        name = self.rng.choice(self.names)
        self.s.source.open(f"if ({name})")
        self._use(scope, name)
        self.s.source.close()

    def read(self, scope: Scope) -> None:
        """Without a test, where few inputs get."""
        name = self.rng.choice(self.names)
        self.s.source.open(f"if ({self.s.condition(scope)})")
        self._use(scope, name)
        self.s.source.close()

    def rounds(self, scope: Scope) -> None:
        """A loop in which a pointer is set on some rounds and used on others."""
        source, name = self.s.source, self.rng.choice(self.names)
        value, counter = source.fresh("v"), source.fresh("k")
        source.statement(f"u32 {value} = {convert(self.s.value(scope), U32).text};")
        source.open(f"for (u32 {counter} = 0; {counter} < {self.rng.randrange(2, 4)}u; {counter}++)")
        source.open(f"if (({value} >> {counter} & 3u) == 0)")
        self.tested(scope)
        source.indent -= 1
        source.raw(f"}} else if (({value} >> {counter} & 3u) == 1) {{")
        source.indent += 1
        self._assign(name)
        source.close()
        source.close()

    def release(self, scope: Scope) -> None:
        name = self.rng.choice(self.names)
        pools = " && ".join(f"{name} != {pool}" for pool in self.pools)
        wrong = self.rng.random() < 0.2
        self.s.source.open(f"if ({self.s.condition(scope)}{'' if wrong else f' && {pools}'})")
        self.s.source.statement(f"FREE({name});")
        if self.rng.random() < 0.8:
            self.s.source.statement(f"{name} = 0;")
        self.s.source.close()

    # --- the list

    def push(self, scope: Scope) -> None:
        source, name, new = self.s.source, self.lists[0], self.s.source.fresh("c")
        source.open(f"if ({self.s.condition(scope)})")
        source.statement(f"struct cell *{new} = malloc(sizeof *{new});")
        source.statement(f"{new}->key = {convert(self.s.value(scope), U32).text};")
        source.statement(f"{new}->next = {name};")
        source.statement(f"{name} = {new};")
        source.close()

    def pop(self, scope: Scope) -> None:
        source, name, old = self.s.source, self.lists[0], self.s.source.fresh("c")
        tested = "" if self.rng.random() < 0.15 else f" && {name}"
        source.open(f"if ({self.s.condition(scope)}{tested})")
        source.statement(f"struct cell *{old} = {name};")
        source.statement(f"{name} = PTR({old})->next;")
        source.statement(f"FREE({old});")
        if self.rng.random() < 0.15:
            source.statement(f"{name} = {old};")
        source.close()

    def walk(self, scope: Scope) -> None:
        at = self.s.source.fresh("c")
        self.s.source.open(f"for (struct cell *{at} = {self.lists[0]}; {at}; {at} = PTR({at})->next)")
        self.s.source.statement(f"sink = sink * 3 + PTR({at})->key;")
        self.s.source.close()

    def first(self, scope: Scope) -> None:
        tested = "" if self.rng.random() < 0.3 else f" && {self.lists[0]}"
        self.s.source.open(f"if ({self.s.condition(scope)}{tested})")
        self.s.source.statement(f"sink ^= (u64)PTR({self.lists[0]})->key;")
        self.s.source.close()
