"""Random small symbolic C programs whose inputs can all be enumerated.

A program is a function of its seed alone. It has at most 65,536 inputs, no undefined behaviour but the
errors it means to have, and one statement a line, so that a native run on every input tells what the engine
has to find.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from bench.lib.gen.expressions import Expressions
from bench.lib.gen.faults import write_fault
from bench.lib.gen.pointers import Pointers
from bench.lib.gen.scope import Array, Function, Scope, Source, Variable
from bench.lib.gen.statements import Statements
from bench.lib.gen.types import COMMON, I8, I16, I32, SMALL, TYPEDEFS, U8, U16, U32, U64, CType, convert

PRELUDE = """\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef ORACLE
#include "oracle.h"
#else
#include "klee/klee.h"
#define STATE
#define COV
#define AT(i, n) (i)
#define NZ(d) (d)
#define SH(s, w) (s)
#define PTR(p) (p)
#define ELEM(p, i, n) ((p)[i])
#define FREE(p) free(p)
#endif"""

PIN = """\
static int pin(u32 v) {
  switch (v) {
  case 0: return 0;
  case 1: return 1;
  case 2: return 2;
  }
  return 3;
}"""


@dataclass(frozen=True)
class Input:
    """One symbolic object: its name, its size in bytes, and how many values it takes (0 up to that)."""

    name: str
    size: int
    count: int


@dataclass(frozen=True)
class Program:
    """A generated program and what its oracle has to know.

    ``exact``: output and exit code depend on the path only, so that the engine's tests show all of them.
    ``library_forks``: the engine may fork where the control flow does not (string functions, choice of
    pointers).
    """

    seed: int
    text: str
    inputs: tuple[Input, ...]
    exact: bool
    library_forks: bool
    floating: bool

    def input_number(self, objects: dict[str, bytes]) -> int:
        """The place of an input in the oracle's enumeration; -1 if it lies outside."""
        number, factor = 0, 1
        for item in self.inputs:
            value = int.from_bytes(objects[item.name], "little")
            if value >= item.count:
                return -1
            number += value * factor
            factor *= item.count
        return number

    def input_bytes(self, number: int) -> list[tuple[str, bytes]]:
        """The objects of one input, the inverse of `input_number`."""
        objects = []
        for item in self.inputs:
            number, value = divmod(number, item.count)
            objects.append((item.name, value.to_bytes(item.size, "little")))
        return objects

    @property
    def input_count(self) -> int:
        total = 1
        for item in self.inputs:
            total *= item.count
        return total


class _Writer:
    """One program in the making."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        rng = self.rng
        self.seed = seed
        self.source = Source()
        self.exact = rng.random() < 0.5
        self.floating = rng.random() < 0.15
        self.expressions = Expressions(rng, wide=rng.random() < 0.2)
        self.statements = Statements(rng, self.source, self.expressions, self.exact)
        self.pointers = Pointers(self.statements) if rng.random() < 0.5 else None
        self.globals = Scope()
        self.inputs: list[Input] = []

    def program(self) -> Program:
        source = self.source
        source.raw(f"/* Generated program, seed {self.seed}. */")
        source.raw(PRELUDE)
        source.raw(TYPEDEFS)
        source.raw("STATE static u64 sink = 0;")
        source.raw(PIN)
        self._records()
        self._globals()
        for _ in range(self.rng.randrange(0, 4)):
            self._function()
        self._main()
        source.raw("#ifdef ORACLE")
        sizes = ", ".join(str(i.size) for i in self.inputs)
        counts = ", ".join(str(i.count) for i in self.inputs)
        source.raw(f"const unsigned oracle_objects = {len(self.inputs)};")
        source.raw(f"const unsigned oracle_sizes[] = {{{sizes}}};")
        source.raw(f"const unsigned oracle_counts[] = {{{counts}}};")
        source.raw("#endif")
        return Program(
            self.seed,
            "\n".join(source.lines) + "\n",
            tuple(self.inputs),
            self.exact,
            self.statements.library_forks,
            self.floating,
        )

    # --- what stands before main

    def _records(self) -> None:
        rng, source = self.rng, self.source
        for _ in range(rng.randrange(0, 3)):
            name = source.fresh("record")
            members: list[tuple[str, CType, int | None]] = []
            if rng.random() < 0.75:
                source.raw(f"struct {name} {{")
                for number in range(rng.randrange(2, 6)):
                    bits = rng.randrange(1, 15) if rng.random() < 0.4 else None
                    ctype = rng.choice((U16, I16, U32, I32)) if bits else rng.choice(COMMON)
                    member = f"m{number}"
                    source.raw(f"  {ctype.name} {member}{f' : {bits}' if bits else ''};")
                    members.append((member, ctype, bits))
                source.raw("};")
                self.statements.records.append((f"struct {name}", members))
            else:
                source.raw(f"union {name} {{ u64 w; u32 d; u16 h[4]; u8 b[8]; i8 s; }};")
                members = [("w", U64, None), ("d", U32, None), ("h[1]", U16, None), ("b[3]", U8, None)]
                members.append(("s", I8, None))
                self.statements.records.append((f"union {name}", members))

    def _globals(self) -> None:
        rng, source = self.rng, self.source
        for _ in range(rng.randrange(0, 4)):
            ctype = rng.choice(COMMON)
            name = source.fresh("g")
            source.raw(f"STATE static {ctype.name} {name} = {self.expressions.number(ctype).text};")
            self.globals.variables.append(Variable(name, ctype))
        for _ in range(rng.randrange(0, 3)):
            ctype, count = rng.choice(SMALL), rng.choice((3, 4, 8, 16, 64))
            name = source.fresh("t")
            items = ", ".join(self.expressions.number(ctype).text for _ in range(min(count, 16)))
            constant = rng.random() < 0.4
            kind = "static const" if constant else "STATE static"
            source.raw(f"{kind} {ctype.name} {name}[{count}] = {{{items}}};")
            self.globals.arrays.append(Array(name, ctype, count, readonly=constant))
        if self.pointers is not None:
            self.pointers.globals()

    def _function(self) -> None:
        shape = self.rng.random()
        if shape < 0.15:
            self._recursive()
        elif shape < 0.3:
            self._table()
        elif shape < 0.4:
            self._by_value()
        else:
            self._plain()

    def _plain(self) -> None:
        rng, source = self.rng, self.source
        name = source.fresh("f")
        result = rng.choice(COMMON)
        parameters = [rng.choice(COMMON) for _ in range(rng.randrange(1, 4))]
        scope = self.globals.inner()
        names = []
        for number, ctype in enumerate(parameters):
            names.append(f"{ctype.name} x{number}")
            scope.variables.append(Variable(f"x{number}", ctype))
        scope.inputs = tuple(scope.variables[-len(parameters) :])
        source.raw(f"static {result.name} {name}({', '.join(names)}) {{")
        source.indent += 1
        self.statements.block(scope, rng.randrange(1, 4))
        if rng.random() < 0.4:
            source.open(f"if ({self.expressions.condition(scope, 2)})")
            source.statement(f"return {convert(self.expressions.expression(scope, 2), result).text};")
            source.close()
        source.statement(f"return {convert(self.expressions.expression(scope, 2), result).text};")
        source.close()
        self.globals.functions = [*self.globals.functions, Function(name, result, tuple(parameters))]

    def _recursive(self) -> None:
        """A function that calls itself at most three times over."""
        source = self.source
        name = source.fresh("rec")
        scope = self.globals.inner()
        scope.variables.append(Variable("n", U32, readonly=True))
        scope.variables.append(Variable("x", U32))
        source.raw(f"static u32 {name}(u32 n, u32 x) {{")
        source.indent += 1
        source.open("if ((n & 3u) == 0)")
        source.statement(f"return {convert(self.expressions.expression(scope, 1), U32).text};")
        source.close()
        step = convert(self.expressions.expression(scope, 1), U32).text
        source.statement(f"return {name}((n & 3u) - 1u, {step}) + x;")
        source.close()
        self.globals.functions = [*self.globals.functions, Function(name, U32, (U32, U32))]

    def _table(self) -> None:
        """Small functions behind a table of pointers; the choice among them may be symbolic."""
        source = self.source
        stem = source.fresh("op")
        scope = Scope(variables=[Variable("a", U32), Variable("b", U32)])
        for number in range(4):
            text = convert(self.expressions.expression(scope, 2), U32).text
            source.raw(f"static u32 {stem}_{number}(u32 a, u32 b) {{")
            source.indent += 1
            source.statement(f"(void)a, (void)b; return {text};")
            source.close()
        entries = ", ".join(f"{stem}_{number}" for number in range(4))
        source.raw(f"static u32 (*const {stem}[4])(u32, u32) = {{{entries}}};")
        source.raw(f"static u32 {stem}_call(u32 k, u32 a, u32 b) {{")
        source.indent += 1
        source.statement(f"return {stem}[k & 3u](a, b);")
        source.close()
        self.statements.library_forks = True
        self.globals.functions = [*self.globals.functions, Function(f"{stem}_call", U32, (U32, U32, U32))]

    def _by_value(self) -> None:
        """A struct that goes in and out by value."""
        structs = [r for r in self.statements.records if r[0].startswith("struct")]
        if not structs:
            return self._plain()
        source = self.source
        type_name, members = self.rng.choice(structs)
        name = source.fresh("mix")
        member, ctype, bits = self.rng.choice(members)
        mask = f" & {(1 << (bits - 1)) - 1}" if bits else ""
        source.raw(f"static {type_name} {name}({type_name} s, u32 k) {{")
        source.indent += 1
        source.statement(f"s.{member} = ({ctype.name})(k{mask});")
        source.statement("return s;")
        source.close()
        source.raw(f"static u32 {name}_use(u32 k) {{")
        source.indent += 1
        source.statement(f"{type_name} s;")
        source.statement("memset(&s, 0, sizeof s);")
        source.statement(f"s = {name}({name}(s, k), k ^ 5u);")
        source.statement(f"return (u32)s.{member} + (u32)s.{members[0][0]};")
        source.close()
        self.globals.functions = [*self.globals.functions, Function(f"{name}_use", U32, (U32,))]

    # --- main

    def _symbolic(self, scope: Scope) -> None:
        """Declare the inputs in one of several shapes."""
        rng, source = self.rng, self.source
        shape = rng.choice(("byte", "bytes", "bytes", "signed", "short", "array", "limited", "long"))
        made: list[tuple[CType, str, int]]
        if shape == "array":
            source.statement("u8 in[2];")
            source.statement('klee_make_symbolic(in, sizeof in, "in");')
            self.inputs.append(Input("in", 2, 65536))
            scope.variables += [Variable("in[0]", U8, readonly=True), Variable("in[1]", U8, readonly=True)]
            scope.arrays.append(Array("in", U8, 2))
            return
        made = {
            "byte": [(U8, "in0", 256)],
            "bytes": [(U8, "in0", 256), (U8, "in1", 256)],
            "signed": [(I8, "in0", 256), (U8, "in1", 256)],
            "short": [(rng.choice((U16, I16)), "in0", 65536)],
            "limited": [(U32, "in0", rng.choice((100, 1000, 4096)))],
            "long": [(U64, "in0", 300), (U8, "in1", 128)],
        }[shape]
        for ctype, name, count in made:
            source.statement(f"{ctype.name} {name};")
            source.statement(f'klee_make_symbolic(&{name}, sizeof {name}, "{name}");')
            limited = count < 1 << ctype.bits
            if limited:
                source.statement(f"klee_assume({name} < {count}u);")
            self.inputs.append(Input(name, ctype.bits // 8, count))
            variable = Variable(name, ctype, readonly=rng.random() < 0.7)
            scope.variables.append(variable)

    def _float(self, scope: Scope) -> None:
        """Floating point over small integers: arithmetic, comparison, conversion both ways."""
        rng, source = self.rng, self.source
        kind, suffix = rng.choice((("double", ""), ("float", "f")))
        name = source.fresh("d")
        narrow = convert(self.expressions.expression(scope, 1), rng.choice((U8, I8)))
        factor, summand = rng.choice(("0.5", "1.5", "-2.0", "0.1")), rng.choice(("1.0", "-3.25", "0.3"))
        source.statement(
            f"{kind} {name} = ({kind}){narrow.text} * {factor}{suffix} {rng.choice('+-')} {summand}{suffix};"
        )
        source.open(
            f"if ({name} {rng.choice(('<', '>=', '>', '!='))} {rng.choice(('10.0', '0.0', '-7.5'))}{suffix})"
        )
        source.statement("sink += 1;")
        source.close()
        result = source.fresh("v")
        source.statement(f"i32 {result} = (i32){name};")
        scope.variables.append(Variable(result, I32))

    def _main(self) -> None:
        rng, source = self.rng, self.source
        scope = self.globals.inner()
        scope.depth = 0
        source.raw("int main(void) {")
        source.indent += 1
        before = len(scope.variables)
        self._symbolic(scope)
        scope.inputs = tuple(scope.variables[before:])
        if self.pointers is not None:
            self.pointers.locals()
        faults = rng.choice((0, 0, 1, 1, 2, 3))
        total = rng.randrange(6, 14)
        places = sorted(rng.randrange(total) for _ in range(faults))
        for number in range(total):
            if self.pointers is not None and rng.random() < 0.6:
                self.pointers.statement(scope)
            else:
                self.statements.statement(scope)
            if self.floating and number == 1:
                self._float(scope)
            while places and places[0] == number:
                places.pop(0)
                write_fault(self.statements, scope)
        if rng.random() < 0.3:
            source.open(f"if ({self.expressions.condition(scope, 2)})")
            source.statement(f"exit({rng.randrange(0, 120)});")
            source.close()
        self._digest(scope)
        source.close()

    def _digest(self, scope: Scope) -> None:
        """Fold what the program computed into its last output and exit code, so that wrong data shows."""
        source = self.source
        source.statement("u64 all = sink;")
        for variable in scope.readable():
            source.statement(f"all = (all << 5 | all >> 59) ^ (u64){variable.name};")
        for array in scope.arrays:
            if not array.readonly:
                source.open(f"for (u32 i = 0; i < {array.count}; i++)")
                source.statement(f"all = (all << 3 | all >> 61) + (u64){array.name}[i];")
                source.close()
        if self.exact:
            source.statement("u32 folded = (u32)(all ^ all >> 32);")
            source.statement("return pin((folded ^ folded >> 8 ^ folded >> 20) & 3u);")
            return
        source.open("for (u32 i = 0; i < 8; i++)")
        source.statement("putchar((int)(all >> (i * 8) & 255u));")
        source.close()
        source.statement("return (int)(all & 127u);")


def generate(seed: int) -> Program:
    """The program of a seed."""
    return _Writer(seed).program()
