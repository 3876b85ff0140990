"""Random statements: assignments, control flow, objects, output."""

from __future__ import annotations

import random

from bench.lib.gen.expressions import Expressions
from bench.lib.gen.scope import Array, Record, Scope, Source, Variable, weighted
from bench.lib.gen.types import COMMON, I32, SMALL, U8, U32, CType, Value, constant, convert

MAX_DEPTH = 3


class Statements:
    """Writes statements into a source; remembers what the oracle has to know about the program."""

    def __init__(self, rng: random.Random, source: Source, expressions: Expressions, exact: bool) -> None:
        self.rng = rng
        self.source = source
        self.expressions = expressions
        # exact: what is printed and returned depends on the path only, never on the data
        self.exact = exact
        self.library_forks = False
        self.records: list[tuple[str, list[tuple[str, CType, int | None]]]] = []

    # --- blocks

    def block(self, scope: Scope, count: int) -> None:
        for _ in range(count):
            self.statement(scope)

    def statement(self, scope: Scope) -> None:
        deep = scope.depth >= MAX_DEPTH
        choices = [
            (4.0, "assign"), (2.0, "declare"), (1.5, "array_write"), (1.0, "array"), (1.0, "compound"),
            (0.9, "pointer"), (0.5, "record"), (0.7, "output"), (0.5, "memory"), (0.3, "text"), (0.3, "heap"),
        ]  # fmt: skip
        if not deep:
            choices += [(3.0, "branch"), (1.2, "switch"), (1.2, "loop"), (0.4, "jump"), (0.5, "chain")]
        if scope.in_loop:
            choices.append((0.7, "leave"))
        getattr(self, "_" + weighted(self.rng, choices))(scope)

    def value(self, scope: Scope, depth: int = 2) -> Value:
        return self.expressions.expression(scope, depth)

    def condition(self, scope: Scope) -> str:
        return self.expressions.condition(scope, 2)

    def small(self, scope: Scope, mask: int) -> str:
        """A value from 0 to ``mask``."""
        return f"({convert(self.value(scope), U32).text} & {mask}u)"

    # --- simple statements

    def _assign(self, scope: Scope) -> None:
        targets = scope.writable()
        if not targets:
            return self._declare(scope)
        target = self.rng.choice(targets)
        self.source.statement(f"{target.name} = {convert(self.value(scope, 3), target.type).text};")

    def _compound(self, scope: Scope) -> None:
        """Compound assignment and ++/--, in types where they cannot overflow."""
        targets = [v for v in scope.writable() if not v.type.signed and v.low is None]
        if not targets:
            return self._assign(scope)
        target = self.rng.choice(targets)
        if self.rng.random() < 0.3:
            return self.source.statement(f"{target.name}{self.rng.choice(('++', '--'))};")
        wide = target.type.bits >= 32
        operator = self.rng.choice(("+", "-", "^", "|", "&") if wide else ("^", "|", "&"))
        self.source.statement(f"{target.name} {operator}= {convert(self.value(scope), target.type).text};")

    def _declare(self, scope: Scope) -> None:
        ctype = self.expressions.type()
        name = self.source.fresh("v")
        self.source.statement(f"{ctype.name} {name} = {convert(self.value(scope, 3), ctype).text};")
        scope.variables.append(Variable(name, ctype))

    def _array(self, scope: Scope) -> None:
        ctype = self.rng.choice(COMMON)
        count = self.rng.choice((2, 3, 4, 4, 5, 8, 8, 16))
        name = self.source.fresh("a")
        if self.rng.random() < 0.3:
            items = [self.expressions.number(ctype).text for _ in range(count)]
            self.source.statement(f"static const {ctype.name} {name}[{count}] = {{{', '.join(items)}}};")
            scope.arrays.append(Array(name, ctype, count, readonly=True))
        else:
            items = [
                convert(self.value(scope, 1), ctype).text for _ in range(self.rng.randrange(1, count + 1))
            ]
            self.source.statement(f"{ctype.name} {name}[{count}] = {{{', '.join(items)}}};")
            scope.arrays.append(Array(name, ctype, count))

    def _array_write(self, scope: Scope) -> None:
        arrays = [a for a in scope.arrays if not a.readonly]
        if not arrays:
            return self._array(scope)
        array = self.rng.choice(arrays)
        index = self.expressions.index(scope, array.count, 1)
        self.source.statement(f"{array.name}[{index}] = {convert(self.value(scope), array.type).text};")

    def _pointer(self, scope: Scope) -> None:
        """A pointer to a variable or into an array, chosen perhaps symbolically, and a write through it."""
        rng = self.rng
        name = self.source.fresh("p")
        arrays = [a for a in scope.arrays if not a.readonly]
        plain = [v for v in scope.variables if not v.readonly and v.pointable]
        if arrays and rng.random() < 0.5:
            array = rng.choice(arrays)
            index = self.expressions.index(scope, array.count, 1)
            self.source.statement(f"{array.type.name} *{name} = {array.name} + ({index});")
            ctype = array.type
        elif plain:
            first = rng.choice(plain)
            ctype = first.type
            same = [v for v in plain if v.type == ctype]
            text = f"&{first.name}"
            if len(same) > 1 and rng.random() < 0.4:
                text = f"{self.condition(scope)} ? {text} : &{rng.choice(same).name}"
                self.library_forks = True
            self.source.statement(f"{ctype.name} *{name} = {text};")
        else:
            return self._declare(scope)
        self.source.statement(f"*{name} = {convert(self.value(scope), ctype).text};")
        scope.variables.append(Variable(f"(*{name})", ctype, pointable=False))

    def _heap(self, scope: Scope) -> None:
        ctype = self.rng.choice(SMALL)
        count = self.rng.choice((2, 4, 8))
        name = self.source.fresh("h")
        self.source.statement(f"{ctype.name} *{name} = malloc({count} * sizeof *{name});")
        self.source.open(f"for (u32 i = 0; i < {count}; i++)")
        inner = scope.inner()
        inner.variables.append(Variable("i", U32, readonly=True, low=0, high=count))
        self.source.statement(f"{name}[i] = {convert(self.value(inner, 1), ctype).text};")
        self.source.close()
        scope.arrays.append(Array(name, ctype, count, heap=True))

    def _memory(self, scope: Scope) -> None:
        """memset, memcpy or memmove of a fixed length inside one or two arrays."""
        rng = self.rng
        targets = [a for a in scope.arrays if not a.readonly]
        if not targets:
            return self._array(scope)
        target = rng.choice(targets)
        size = target.count * target.type.bits // 8
        if rng.random() < 0.4:
            length = rng.randrange(1, size + 1)
            return self.source.statement(f"memset({target.name}, {self.value(scope).text} & 255, {length});")
        origin = rng.choice(scope.arrays)
        length = rng.randrange(1, min(size, origin.count * origin.type.bits // 8) + 1)
        function = "memmove" if origin == target else "memcpy"
        self.source.statement(f"{function}({target.name}, {origin.name}, {length});")

    def _text(self, scope: Scope) -> None:
        """String functions over bytes that may be symbolic; only the sign of a comparison is used."""
        rng = self.rng
        name = self.source.fresh("s")
        bytes_ = ", ".join(f"(char){convert(self.value(scope, 1), U8).text}" for _ in range(2))
        self.source.statement(f"char {name}[4] = {{{bytes_}, 'x', 0}};")
        literal = '"' + "".join(rng.choice("abcx") for _ in range(rng.randrange(0, 3))) + '"'
        call = rng.choice(
            (
                f"strlen({name})",
                f"(strcmp({name}, {literal}) < 0)",
                f"(strcmp({literal}, {name}) == 0)",
                f"(strncmp({name}, {literal}, 2) > 0)",
                f'(memcmp({name}, "ab", 2) < 0)',
                f"(strchr({name}, 'x') != 0)",
            )
        )
        result = self.source.fresh("v")
        self.source.statement(f"u32 {result} = (u32){call};")
        scope.variables.append(Variable(result, U32, low=0, high=3))
        self.library_forks = True

    def _record(self, scope: Scope) -> None:
        """A struct or union variable, sometimes a copy of another; its members become variables."""
        if not self.records:
            return self._declare(scope)
        type_name, members = self.rng.choice(self.records)
        name = self.source.fresh("r")
        same = [r for r in scope.records if r.type_name == type_name]
        if same and self.rng.random() < 0.5:
            self.source.statement(f"{type_name} {name} = {self.rng.choice(same).name};")
        else:
            self.source.statement(f"{type_name} {name};")
            self.source.statement(f"memset(&{name}, 0, sizeof {name});")
        fields = tuple(_member(name, m) for m in members)
        for member in fields[: self.rng.randrange(1, len(fields) + 1)]:
            self.source.statement(f"{member.name} = {convert(self.value(scope, 1), member.type).text};")
        scope.records.append(Record(name, type_name, fields))

    def _output(self, scope: Scope) -> None:
        if self.exact:
            kind = weighted(self.rng, [(2.0, "pinned"), (1.0, "constant"), (1.0, "printf")])
        else:
            kind = weighted(self.rng, [(2.0, "raw"), (1.0, "constant"), (1.0, "printf")])
        if kind == "constant":
            text = self.rng.choice(('puts("here");', "putchar('.');", 'printf("%s:%d\\n", "at", 7);'))
            self.source.statement(text)
        elif kind == "raw":
            self.source.statement(f"putchar((int)('a' + {self.small(scope, 15)}));")
        elif kind == "pinned":
            self.source.statement(f"putchar('a' + pin({self.small(scope, 3)}));")
        else:
            self.source.statement(f'printf("%d %x|", pin({self.small(scope, 3)}), 48879u);')

    # --- control flow

    def _branch(self, scope: Scope) -> None:
        self.source.open(f"if ({self.condition(scope)})")
        self.block(scope.inner(), self.rng.randrange(1, 4))
        if self.rng.random() < 0.5:
            self.source.indent -= 1
            self.source.raw("} else {")
            self.source.indent += 1
            self.block(scope.inner(), self.rng.randrange(1, 3))
        self.source.close()

    def _chain(self, scope: Scope) -> None:
        """if / else if over one value, which is computed once."""
        name = self.source.fresh("v")
        self.source.statement(f"u32 {name} = {self.small(scope, 7)};")
        scope.variables.append(Variable(name, U32, readonly=True, low=0, high=7))
        first, second = sorted(self.rng.sample(range(8), 2))
        self.source.open(f"if ({name} < {first}u)")
        self.block(scope.inner(), 1)
        self.source.indent -= 1
        self.source.raw(f"}} else if ({name} == {second}u) {{")
        self.source.indent += 1
        self.block(scope.inner(), 1)
        self.source.close()

    def _switch(self, scope: Scope) -> None:
        mask = self.rng.choice((3, 7, 15))
        self.source.open(f"switch ({self.small(scope, mask)})")
        cases = self.rng.sample(range(mask + 1), self.rng.randrange(2, min(5, mask + 1)))
        for case in cases:
            self.source.raw(f"case {case}:")
            if self.rng.random() < 0.15:
                continue
            self._case_body(scope)
            if self.rng.random() < 0.8:
                self.source.statement("break;")
        if self.rng.random() < 0.6:
            self.source.raw("default:")
            self._case_body(scope)
        else:
            self.source.raw("default:;")
        self.source.close()

    def _case_body(self, scope: Scope) -> None:
        self.source.raw("{")
        self.source.indent += 1
        # break inside a switch means the switch, so loops may only be left by continue
        self.block(scope.inner(in_switch=True), self.rng.randrange(1, 3))
        self.source.close()

    def _loop(self, scope: Scope) -> None:
        rng = self.rng
        counter = self.source.fresh("k")
        inner = scope.inner(in_loop=True, in_switch=False)
        kind = weighted(rng, [(3.0, "for"), (2.0, "symbolic"), (1.0, "while"), (1.0, "do")])
        if kind == "for":
            bound = rng.randrange(2, 6)
            self.source.open(f"for (u32 {counter} = 0; {counter} < {bound}u; {counter}++)")
            inner.variables.append(Variable(counter, U32, readonly=True, low=0, high=bound))
        elif kind == "symbolic":
            limit = self.source.fresh("n")
            self.source.statement(f"u32 {limit} = {self.small(scope, rng.choice((1, 3, 3, 7)))};")
            self.source.open(f"for (u32 {counter} = 0; {counter} < {limit}; {counter}++)")
            inner.variables.append(Variable(counter, U32, readonly=True, low=0, high=7))
        else:
            self.source.statement(f"u32 {counter} = {self.small(scope, 3)} + 1u;")
            self.source.open(f"while ({counter}-- > 0)" if kind == "while" else "do")
            inner.variables.append(Variable(counter, U32, readonly=True))
        self.block(inner, rng.randrange(1, 4))
        # continue in a do-while goes to its condition, which counts down: every loop ends
        self.source.close("}" if kind != "do" else f"}} while (--{counter} > 0 && {counter} < 8u);")

    def _leave(self, scope: Scope) -> None:
        self.source.open(f"if ({self.condition(scope)})")
        word = "continue" if scope.in_switch or self.rng.random() < 0.4 else "break"
        self.source.statement(f"{word};")
        self.source.close()

    def _jump(self, scope: Scope) -> None:
        """A forward goto over a block."""
        label = self.source.fresh("skip")
        self.source.open(f"if ({self.condition(scope)})")
        self.source.statement(f"goto {label};")
        self.source.close()
        self.source.raw("{")
        self.source.indent += 1
        self.block(scope.inner(), self.rng.randrange(1, 3))
        self.source.close()
        self.source.raw(f"{label}:;")


def _member(record: str, member: tuple[str, CType, int | None]) -> Variable:
    """A member as a variable; a bit-field is promoted to int and has the bounds of its width."""
    name, ctype, bits = member
    if bits is None:
        return Variable(f"{record}.{name}", ctype, pointable=True)
    low = -(1 << (bits - 1)) if ctype.signed else 0
    high = (1 << (bits - 1 if ctype.signed else bits)) - 1
    return Variable(f"{record}.{name}", I32 if bits < 32 else ctype, low=low, high=high, pointable=False)


def zero(ctype: CType) -> str:
    return constant(0, ctype).text
