"""Random C programs full of faults that a compiler likes to delete, of at most two symbolic bytes.

A program is a function of its seed alone. Control flow and expressions are those of `bench.lib.generate`; the
statements with faults are in `gen/arithmetic_faults.py`, `gen/memory_faults.py` and `gen/lifetime_faults.py`.
"""

from __future__ import annotations

import random

from bench.lib.gen import arithmetic_faults, lifetime_faults, memory_faults
from bench.lib.gen.expressions import Expressions
from bench.lib.gen.fault_scope import FaultKind, FaultStatements, Tracked
from bench.lib.gen.lifetime_faults import writer
from bench.lib.gen.scope import Function, Scope, Source, Variable
from bench.lib.gen.types import I32, SMALL, TYPEDEFS, U8, U32, convert
from bench.lib.generate import Input, Program

PRELUDE = """\
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#ifdef ORACLE
#include "faults.h"
#else
#include "klee/klee.h"
#define STATE
#define COV
#define LOCAL(T, name) __typeof__(T) name
#define LOCAL_IS(T, name, ...) __typeof__(T) name = {__VA_ARGS__}
#define GLOBAL(T, name, ...) static __typeof__(T) name = {__VA_ARGS__}
#define CONSTANT(T, name, ...) static const __typeof__(T) name = {__VA_ARGS__}
#define BEGIN(name)
#define BEGIN_CONSTANT(name)
#define LOCAL_OF(T, name, n) T name[n]
#define HEAP(n) malloc(n)
#define ZEROED(count, size) calloc((count), (size))
#define RESIZED(p, n) realloc((p), (n))
#define LENGTH(p) strlen((const char *)(p))
#define RELEASE(p) free(p)
#define V(name) (name)
#define RD(x) (x)
#define WR(x) (x)
#define USE(x) (x)
#define COPY(to, from) ((to) = (from))
#define MEMSET(p, c, n) memset((p), (c), (n))
#define MEMCPY(p, q, n) memcpy((p), (q), (n))
#define MEMMOVE(p, q, n) memmove((p), (q), (n))
#define IDX(i, n) (i)
#endif"""


def declare_inputs(source: Source, inputs: list[Input]) -> None:
    """What the oracle has to know of the inputs."""
    source.raw("#ifdef ORACLE")
    source.raw(f"const unsigned oracle_objects = {len(inputs)};")
    source.raw(f"const unsigned oracle_sizes[] = {{{', '.join(str(i.size) for i in inputs)}}};")
    source.raw(f"const unsigned oracle_counts[] = {{{', '.join(str(i.count) for i in inputs)}}};")
    source.raw("#endif")


KINDS: dict[FaultKind, float] = {**arithmetic_faults.KINDS, **memory_faults.KINDS, **lifetime_faults.KINDS}


class _Writer:
    """One program in the making."""

    def __init__(self, seed: int, kinds: dict[FaultKind, float]) -> None:
        self.rng = random.Random(f"faults {seed}")
        self.seed = seed
        self.source = Source()
        self.expressions = Expressions(self.rng, wide=False)
        self.statements = FaultStatements(self.rng, self.source, self.expressions, kinds)
        self.scope = Scope()
        self.inputs: list[Input] = []

    def program(self) -> Program:
        source = self.source
        source.raw(f"/* Generated program with faults, seed {self.seed}. */")
        source.raw(PRELUDE)
        source.raw(TYPEDEFS)
        source.raw(memory_faults.STRUCTS)
        source.raw("STATE static u64 sink = 0;")
        self._globals()
        for _ in range(self.rng.randrange(1, 3)):
            writer(self.statements, self.scope)
        for _ in range(self.rng.randrange(0, 3)):
            self._function()
        self._main()
        declare_inputs(source, self.inputs)
        return Program(
            self.seed,
            "\n".join(source.lines) + "\n",
            tuple(self.inputs),
            exact=False,
            library_forks=True,
            floating=False,
        )

    def _globals(self) -> None:
        rng = self.rng
        for number in range(3):
            ctype, count = rng.choice(SMALL), rng.choice((2, 3, 4, 8))
            readonly = number == 2
            name = self.source.fresh("c" if readonly else "g")
            items = ", ".join(self.expressions.number(ctype).text for _ in range(count))
            word = "CONSTANT" if readonly else "GLOBAL"
            self.source.raw(f"{word}({ctype.name}[{count}], {name}, {items});")
            tracked = Tracked(f"V({name})", ctype, count, variable=True, readonly=readonly)
            self.statements.globals.append(tracked)

    def _function(self) -> None:
        """A function with faults of its own."""
        rng, source = self.rng, self.source
        name = source.fresh("f")
        parameters = [rng.choice((U8, U32, I32)) for _ in range(rng.randrange(1, 3))]
        scope = self.scope.inner()
        scope.variables += [Variable(f"x{n}", ctype) for n, ctype in enumerate(parameters)]
        scope.inputs = tuple(scope.variables[-len(parameters) :])
        listed = ", ".join(f"{ctype.name} x{n}" for n, ctype in enumerate(parameters))
        source.raw(f"static u32 {name}({listed}) {{")
        source.indent += 1
        self.statements.fault(scope)
        self.statements.block(scope, rng.randrange(0, 3))
        source.statement(f"return {convert(self.expressions.expression(scope, 2), U32).text};")
        source.close()
        self.scope.functions = [*self.scope.functions, Function(name, U32, tuple(parameters))]

    def _main(self) -> None:
        rng, source = self.rng, self.source
        scope = self.scope.inner()
        scope.depth = 0
        source.raw("int main(void) {")
        source.indent += 1
        for tracked in self.statements.globals:
            name = tracked.name.removeprefix("V(").removesuffix(")")
            source.statement(f"BEGIN{'_CONSTANT' if tracked.readonly else ''}({name});")
        for number in range(rng.choice((1, 2, 2))):
            name = f"in{number}"
            source.statement(f"u8 {name};")
            source.statement(f'klee_make_symbolic(&{name}, sizeof {name}, "{name}");')
            self.inputs.append(Input(name, 1, 256))
            scope.variables.append(Variable(name, U8, readonly=True))
        scope.inputs = tuple(scope.variables)
        for _ in range(rng.randrange(3, 6)):
            self.statements.statement(scope)
            self.statements.fault(scope)
        source.statement("return (int)((sink ^ sink >> 8 ^ sink >> 20) & 63u);")
        source.close()


def generate_faulty(seed: int, constants: bool = False) -> Program:
    """The program of a seed; `constants`: also with divisions and shifts of constants alone."""
    return _Writer(seed, {**KINDS, **(arithmetic_faults.CONSTANTS if constants else {})}).program()
