"""The gated form against native runs: effects, with all operators opened, under random inputs."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from anabranch.check.decide import Decider
from anabranch.check.driver import Checker
from anabranch.check.gate import Gated
from anabranch.check.leaves import GlobalObject, Memory, Operator, Parameter
from anabranch.check.program import Program
from anabranch.check.settings import CheckSettings
from anabranch.expr import Expr, Value, bool_and, eq, evaluate, expr_vars, substitute, var
from anabranch.native.tools import compile_object, link
from anabranch.solver.backend import UNSAT
from tests.check.generate import program
from tests.check.support import module_of

GLOBALS = {"g0": (0,), "g1": (3,), "table": (1, 2, 4, 8)}
MAIN = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        g0 = 0; g1 = 3; table[0] = 1; table[1] = 2; table[2] = 4; table[3] = 8;
        unsigned r = FUNCTION(strtoul(argv[i], 0, 10));
        printf("%u %u %u %u %u %u %u\\n", r, g0, g1, table[0], table[1], table[2], table[3]);
    }
}
"""


def without_main(text: str) -> tuple[str, str | None]:
    """A generated program up to `main`, without assertions, and its last function of a number."""
    text = re.sub(r"^\s*assert\(.*$", "", text[: text.index("int main")], flags=re.MULTILINE)
    text = text.replace("static unsigned f", "unsigned f").replace("#include <klee/klee.h>\n", "")
    names = re.findall(r"^unsigned (f\d)\(unsigned x\)", text, flags=re.MULTILINE)
    return text, names[-1] if names else None


def native(source: Path, function: str, inputs: list[int]) -> list[list[int]]:
    main_file = source.with_name("main.c")
    main_file.write_text(f'#include "{source}"\n{MAIN.replace("FUNCTION", function)}')
    binary = source.with_suffix("")
    link([compile_object(main_file, source.with_suffix(".o"), ["-w"])], binary)
    done = subprocess.run([binary, *map(str, inputs)], check=True, capture_output=True, text=True)
    return [list(map(int, line.split())) for line in done.stdout.splitlines()]


def opened(checked: Program, value: Value) -> Value:
    """An expression without summary operators."""
    while value.__class__ is Expr:
        found = {
            leaf.var: checked.summaries.expanded(leaf)
            for leaf in checked.leaves.support(value)
            if isinstance(leaf, Operator)
        }
        if not found:
            break
        value = substitute(value, found)
    return value


def effects(gated: Gated) -> list[Value]:
    """The result, and the globals afterwards, in the order in which they are printed."""
    leaves = gated.program.leaves
    places = [(name, 4 * k) for name, values in GLOBALS.items() for k in range(len(values))]
    memory = [
        gated.effects.value(("memory", leaves.global_object(name), offset, 32)) for name, offset in places
    ]
    return [opened(gated.program, value) for value in (gated.effects.value(("ret",)), *memory)]


def known_values(gated: Gated, value: Value, argument: int) -> dict[int, int]:
    """The inputs of an expression; what is unknown in it is left out."""
    model: dict[int, int] = {}
    for index in expr_vars(value) if value.__class__ is Expr else ():
        leaf = gated.program.leaves.at(index)
        if isinstance(leaf, Parameter):
            model[index] = argument
        elif isinstance(leaf, Memory):
            base = gated.program.leaves.of(leaf.base)
            assert isinstance(base, GlobalObject)
            word = GLOBALS[base.name][leaf.offset // 4]
            model[index] = word >> leaf.offset % 4 * 8 & (1 << leaf.var.w) - 1
    return model


def agrees(gated: Gated, value: Value, argument: int, observed: int) -> bool:
    """Is the observed value the one of the expression, or one of those that it allows?"""
    if value.__class__ is not Expr:
        return bool(value == observed)
    model = known_values(gated, value, argument)
    if len(model) == len(expr_vars(value)):
        return bool(evaluate(value, model) == observed)
    formula = eq(value, observed, 32)
    for index, number in model.items():
        leaf = gated.program.leaves.at(index)
        assert leaf is not None
        formula = bool_and(formula, eq(leaf.var, number, leaf.var.w))
    if formula.__class__ is not Expr:
        return bool(formula)
    return Decider().solve([formula], 1_000_000) is not UNSAT


@pytest.mark.parametrize("seed", range(4000, 4006))
@pytest.mark.parametrize("loops", [False, True])
def test_effects_are_those_of_native_runs(seed: int, loops: bool, tmp_path: Path) -> None:
    text, function = without_main(program(seed, loops))
    if function is None:
        return  # every function of this program takes a pointer
    source = tmp_path / "subject.c"
    source.write_text(text)
    checker = Checker(module_of(source), CheckSettings(properties=(), all_functions=True))
    checker.run()
    gated = checker.program.functions[function]
    inputs = [0, 1, 2, 255, *(random.Random(seed).getrandbits(32) for _ in range(8))]
    values = effects(gated)
    for argument, observed in zip(inputs, native(source, function, inputs), strict=True):
        for value, number in zip(values, observed, strict=True):
            assert agrees(gated, value, argument, number), (argument, number, value)


def test_the_oracle_can_disagree(tmp_path: Path) -> None:
    source = tmp_path / "subject.c"
    source.write_text("unsigned f(unsigned x) { return x + 1; }")
    checker = Checker(module_of(source), CheckSettings(properties=()))
    checker.run()
    gated = checker.program.functions["f"]
    value = gated.effects.value(("ret",))
    assert agrees(gated, value, 3, 4) and not agrees(gated, value, 3, 5)
    assert var("other", 32) is not value
