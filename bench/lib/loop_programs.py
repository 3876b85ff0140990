"""Random C programs of loops over data of unknown size: a number and up to six characters are symbolic.

A program is a function of its seed alone. Its statements are in `gen/loops.py`; native runs use the objects
of `bench/native/faults.h`, which know their size and which of their bytes were written. The characters are
few, so that all inputs can be run, and stand for themselves: several loops in a row make a few hundred paths.
"""

from __future__ import annotations

import random
from pathlib import Path

from bench.lib.fault_oracle import fault_truth
from bench.lib.fault_programs import PRELUDE, declare_inputs
from bench.lib.gen.loops import Alphabet, Buffer, Callee, LoopStatements
from bench.lib.gen.scope import Source
from bench.lib.gen.types import TYPEDEFS
from bench.lib.generate import Input, Program
from bench.lib.oracle import VARIANT, Truth

MIN_PATHS, MAX_PATHS = 8, 400
SHAPES = ((4, 3), (4, 4), (5, 3), (5, 4), (6, 3))
"""Longest data and number of characters: at most 6,144 inputs."""
REGIONS = """\
#ifdef ORACLE
#define klee_open_merge() ((void)0)
#define klee_close_merge() ((void)0)
#endif"""


class _Writer:
    """One program in the making."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = rng = random.Random(f"loops {seed}")
        self.source = Source()
        self.exact = rng.random() < 0.5
        self.longest, letters = rng.choice(SHAPES)
        self.alphabet = Alphabet(rng.choice((0, 1, 48, 97)), letters)
        self.inputs: list[Input] = []

    def program(self) -> Program:
        source = self.source
        source.raw(f"/* Generated program of loops, seed {self.seed}. */")
        source.raw("#include <stdio.h>")
        source.raw(PRELUDE)
        source.raw(REGIONS)
        source.raw(TYPEDEFS)
        source.raw("STATE static u64 sink = 0;")
        tests = [self._test() for _ in range(self.rng.choice((0, 0, 1, 1, 2)))]
        spans = [self._span(tests) for _ in range(self.rng.choice((0, 1, 1, 2)))]
        statements = LoopStatements(self.rng, source, self.alphabet, self.exact)
        statements.tests, statements.spans = tests, spans
        self._main(statements)
        declare_inputs(source, self.inputs)
        return Program(
            self.seed, "\n".join(source.lines) + "\n", tuple(self.inputs), exact=self.exact,
            library_forks=not statements.plain, floating=False,
        )  # fmt: skip

    def _test(self) -> str:
        """A function of one character, for conditions of loops."""
        source, statements = self.source, LoopStatements(self.rng, self.source, self.alphabet, self.exact)
        name = source.fresh("is")
        source.raw(f"static int {name}(const u8 *p) {{")
        source.indent += 1
        source.open(f"if ({statements.condition('*p')})")
        source.statement("return 1;")
        source.close()
        source.statement(f"return USE(*p) == {self.alphabet.any(self.rng)};")
        source.close()
        return name

    def _span(self, tests: list[str]) -> Callee:
        """A function with loops of its own, which may leave it in the middle."""
        source, text = self.source, self.rng.random() < 0.5
        name = source.fresh("span")
        source.raw(f"static u32 {name}(u8 *s, u32 n, u32 from) {{")
        source.indent += 1
        statements = LoopStatements(self.rng, source, self.alphabet, self.exact)
        statements.tests, statements.leave = tests, "return from;"
        buffer = Buffer("s", "n", text, ["from"])
        for _ in range(self.rng.choice((1, 1, 2))):
            statements.buffers = [buffer]
            self.rng.choice((statements.span, statements.exits, statements.members, statements.backwards))()
        source.statement(f"return {buffer.positions[-1]};")
        source.close()
        return Callee(name, text)

    def _main(self, statements: LoopStatements) -> None:
        source, rng = self.source, self.rng
        source.raw("int main(void) {")
        source.indent += 1
        self._symbolic("n", self.longest + 1)
        source.statement(f"u8 *in = HEAP({self.longest}u);")
        for number in range(self.longest):
            self._symbolic(f"c{number}", self.alphabet.count)
            source.statement(f"WR(in[{number}]) = (u8)(c{number} + {self.alphabet.first}u);")
        statements.buffers.append(self._buffer(statements))
        for _ in range(rng.randrange(2, 6)):
            statements.statement()
        if not self.exact:
            self._digest(statements.buffers)
        source.statement("return (int)((sink ^ sink >> 8 ^ sink >> 20) & 63u);")
        source.close()

    def _symbolic(self, name: str, count: int) -> None:
        source = self.source
        source.statement(f"u8 {name};")
        source.statement(f'klee_make_symbolic(&{name}, sizeof {name}, "{name}");')
        source.statement(f"klee_assume({name} < {count}u);")
        self.inputs.append(Input(name, 1, count))

    def _buffer(self, statements: LoopStatements) -> Buffer:
        """The data: n characters with or without a zero behind them, or as many as fit, up to a zero."""
        source, rng = self.source, self.rng
        shape = rng.random()
        if shape < 0.25:
            source.statement(f"u8 *s = HEAP({self.longest + 1}u);")
            for i in range(self.longest):
                source.statement(f"WR(s[{i}]) = RD(in[{i}]);")
            source.statement(f"WR(s[{self.longest}]) = 0;")
            return Buffer("s", f"{self.longest}u", True)
        text = shape < 0.6
        size = "n + 1u" if text or rng.random() < 0.3 else "n"
        on_stack = size != "n" and rng.random() < 0.5
        source.statement(f"LOCAL_OF(u8, s, {size});" if on_stack else f"u8 *s = HEAP({size});")
        if rng.random() < 0.5:
            source.statement("MEMCPY(s, in, n);")
            statements.plain = False
        else:
            source.open("for (u32 i = 0; i < n; i++)")
            source.statement("WR(s[i]) = RD(in[i]);")
            source.close()
        if text:
            source.statement("WR(s[n]) = 0;")
        return Buffer("s", "n", text)

    def _digest(self, buffers: list[Buffer]) -> None:
        """What the buffers hold at the end, so that a wrong write shows."""
        for buffer in buffers:
            i = self.source.fresh("at")
            inside = f"USE({buffer.name}[{i}])" if buffer.text else f"{i} < {buffer.length}"
            self.source.open(f"for (u32 {i} = 0; {inside}; {i}++)")
            self.source.statement(f"putchar((int)USE({buffer.name}[{i}]));")
            self.source.close()


def generate_loops(seed: int) -> Program:
    """The program of a seed."""
    return _Writer(seed).program()


def draw_loops(seed: int, directory: Path, max_paths: int = MAX_PATHS) -> tuple[Program, Truth]:
    """The program of a seed: the first variant with an exit and a workable number of paths."""
    directory.mkdir(parents=True, exist_ok=True)
    variant = seed
    while True:
        program = generate_loops(variant)
        truth = fault_truth(program, directory)
        exits = any(end.kind == "exit" for end in truth.ends)
        if exits and MIN_PATHS <= truth.path_count() <= max_paths:
            return program, truth
        variant += VARIANT
