"""Random C programs whose objects have sizes that depend on the input: at most three symbolic bytes.

A program is a function of its seed alone. Its statements are in `gen/sizes.py`; native runs use the objects
of `bench/native/faults.h`, which know their size and which of their bytes were written.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from bench.lib.fault_oracle import fault_truth
from bench.lib.fault_programs import PRELUDE, declare_inputs
from bench.lib.gen.scope import Source
from bench.lib.gen.sizes import Sized, SizedStatements
from bench.lib.gen.types import TYPEDEFS, U8
from bench.lib.generate import Input, Program
from bench.lib.oracle import VARIANT, Truth

SIZES = ("n", "n", "m")
DATA = "x"
MIN_PATHS, MAX_PATHS = 5, 400
CAPACITY = 512
"""More than any object of the programs has bytes."""
OBJECTS = ("--no-check", "bounds", "--capacity", str(CAPACITY))
"""Flags for these programs: a check for indices of arrays would report the same error before."""
FLAGS = ("--all-errors", *OBJECTS)


@dataclass(frozen=True)
class _Maker:
    """A function that makes an object, and how many bytes that has in terms of its arguments."""

    name: str
    count: str
    plain: bool


def _maker(rng: random.Random, source: Source) -> _Maker:
    """A function of its own; its parameters have the names of the inputs."""
    name = source.fresh("make")
    source.raw(f"static u8 *{name}(u32 n, u32 m, u32 x) {{")
    source.indent += 1
    statements = SizedStatements(rng, source, SIZES, DATA)
    made = statements.heap(ctype=U8)
    for _ in range(rng.randrange(1, 3)):
        statements.statement()
    source.statement(f"return {made.name};")
    source.close()
    (count,) = [item.count for item in statements.objects if item.name == made.name]
    return _Maker(name, count, statements.plain)


def generate_sized(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(f"sizes {seed}")
    source = Source()
    source.raw(f"/* Generated program with objects of input-dependent size, seed {seed}. */")
    source.raw(PRELUDE)
    source.raw(TYPEDEFS)
    source.raw("STATE static u64 sink = 0;")
    makers = [_maker(rng, source) for _ in range(rng.choice((0, 0, 1, 2)))]
    source.raw("int main(void) {")
    source.indent += 1
    inputs = []
    for name, count in (("n", rng.choice((4, 6, 9))), ("m", rng.choice((3, 5))), ("x", rng.choice((16, 64)))):
        source.statement(f"u8 {name};")
        source.statement(f'klee_make_symbolic(&{name}, sizeof {name}, "{name}");')
        source.statement(f"klee_assume({name} < {count}u);")
        inputs.append(Input(name, 1, count))
    statements = SizedStatements(rng, source, SIZES, DATA)
    for maker in makers:
        statements.plain &= maker.plain
        name = source.fresh("o")
        source.statement(f"u8 *{name} = {maker.name}(n, m, x);")
        statements.objects.append(Sized(name, U8, maker.count, True))
    for _ in range(rng.randrange(3, 7)):
        statements.statement()
    source.statement("return (int)((sink ^ sink >> 8 ^ sink >> 20) & 63u);")
    source.close()
    declare_inputs(source, inputs)
    text = "\n".join(source.lines) + "\n"
    return Program(seed, text, tuple(inputs), exact=False, library_forks=not statements.plain, floating=False)


def draw_sized(seed: int, directory: Path, max_paths: int = MAX_PATHS) -> tuple[Program, Truth]:
    """The program of a seed: the first variant with an error, an exit and a workable number of paths."""
    directory.mkdir(parents=True, exist_ok=True)
    variant = seed
    while True:
        program = generate_sized(variant)
        truth = fault_truth(program, directory)
        exits = any(end.kind == "exit" for end in truth.ends)
        if truth.errors() and exits and MIN_PATHS <= truth.path_count() <= max_paths:
            return program, truth
        variant += VARIANT
