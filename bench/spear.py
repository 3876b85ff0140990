"""The back end in Spear's shape against the meaning of expressions, brute force and other solvers.

python -m bench.spear operators [--cases 100000]   circuits: all values up to 6 bits, random ones at 8 to 64
python -m bench.spear sat [--formulas 100000]      the SAT layer against all assignments of up to 12 variables
python -m bench.spear examples                     64-bit examples of the thesis: seconds, gates, clauses

Random cases are divided among the operators, widths and ways of encoding. Each command exits with 1 if an
answer is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence

from anabranch import expr as X
from anabranch.solver.spear.backend import SpearBackend
from bench.lib.circuits import ENCODINGS, exhaustive, sampled, wrong_cases
from bench.lib.sat import trouble
from bench.lib.table import print_table

WIDTHS = (8, 16, 24, 32, 48, 64)


def operators(cases: int, seed: int, widest: int) -> int:
    """Circuits against the evaluator."""
    rows: list[tuple[object, ...]] = []
    wrong = 0
    for w in range(1, widest + 1):
        count = bad = 0
        for encoding in ENCODINGS:
            for _, e, values in exhaustive(w):
                bad += len(wrong_cases(e, encoding, values))
                count += len(values)
        rows.append((w, "all", count, bad))
        wrong += bad
    rng = random.Random(seed)
    numbers = [3, 5, 7, 10, 13, 100, -3, *(rng.getrandbits(64) for _ in range(4))]
    kinds = sum(1 for _ in sampled(64, 0, rng, numbers))
    each = -(-cases // (kinds * len(WIDTHS) * len(ENCODINGS)))
    for w in WIDTHS:
        count = bad = 0
        for encoding in ENCODINGS:
            for name, e, values in sampled(w, each, rng, numbers):
                found = wrong_cases(e, encoding, values)
                if found:
                    print(f"{name} at {w} bits: wrong for {found[0]}")
                bad += len(found)
                count += len(values)
        rows.append((w, "random", count, bad))
        wrong += bad
    print_table(("bits", "values", "cases", "wrong"), rows)
    return wrong


def sat(formulas: int, seed: int) -> int:
    """The SAT layer against brute force."""
    wrong = [found for found in map(trouble, range(seed, seed + formulas)) if found is not None]
    for found in wrong[:5]:
        print(found)
    print_table(("formulas", "questions", "wrong"), [(formulas, 3 * formulas, len(wrong))])
    return len(wrong)


def examples() -> int:
    """The example of common subexpressions, and each operator, at 64 bits."""
    a, b = X.var("a", 64), X.var("b", 64)
    product = X.mul(a, b, 64)
    conditions = {
        "a * b != a * b": X.ne(product, X.mul(b, a, 64), 64),
        "a * b + 1 == a * b": X.eq(X.sub(X.add(product, 1, 64), X.mul(b, a, 64), 64), 0, 64),
        "a + b == c": X.eq(X.add(a, b, 64), 0x123456789ABCDEF0, 64),
        "a - b < 9": X.ult(X.sub(a, b, 64), 9, 64),
        "a * b == c": X.eq(product, 0x123456789ABCDEF1, 64),
        "a / b == 77": X.eq(X.udiv(a, b, 64), 77, 64),
        "a / b == 77, signed": X.eq(X.sdiv(a, b, 64), 77, 64),
        "a % b == 77": X.eq(X.urem(a, b, 64), 77, 64),
        "a % b == 77, signed": X.eq(X.srem(a, b, 64), 77, 64),
        "a / 13 == 77": X.eq(X.udiv(X.xor(a, b, 64), 13, 64), 77, 64),
        "a / 13 == b, signed": X.eq(X.sdiv(a, 13, 64), b, 64),
        "a % 10 == 7": X.eq(X.urem(X.xor(a, b, 64), 10, 64), 7, 64),
        "a << b == 1 << 60": X.eq(X.shl(a, b, 64), 1 << 60, 64),
        "a >> b == 5, signed": X.eq(X.ashr(a, b, 64), 5, 64),
        "a < b": X.ult(a, b, 64),
        "a < b, signed": X.slt(a, b, 64),
        "a < b and b < a": X.bool_and(X.ult(a, b, 64), X.ult(b, a, 64)),
        "(c ? a : b) == 5": X.eq(X.ite(X.var("c", 1), a, b, 64), 5, 64),
    }
    rows = []
    slow = 0
    for name, condition in conditions.items():
        backend = SpearBackend()
        start = time.process_time()
        if condition.__class__ is X.Expr:
            found = backend.solve([condition], X.expr_vars(condition))
            answer = "sat" if isinstance(found, dict) else found.value
        else:
            answer = "unsat, simplified" if not condition else "sat, simplified"
        seconds = time.process_time() - start
        slow += seconds > 1 or answer == "unknown"
        rows.append((name, answer, seconds, backend.gates))
    print_table(("condition", "answer", "CPU s", "variables"), rows)
    return slow


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("operators", "sat", "examples"))
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--formulas", type=int, default=100_000)
    parser.add_argument("--widest", type=int, default=6, help="widest with all values")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    if given.what == "operators":
        return bool(operators(given.cases, given.seed, given.widest))
    return bool(sat(given.formulas, given.seed) if given.what == "sat" else examples())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
