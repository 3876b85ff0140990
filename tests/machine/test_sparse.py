"""Objects of some GiB: they have pages only where they were written, and behave as any other."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from anabranch.expr import is_undefined, undefined
from anabranch.machine import blocks
from anabranch.machine.memory import Memory
from anabranch.machine.objects import NEAR, ObjectNumbers
from anabranch.machine.sparse import (
    LAST,
    PAGE_SIZE,
    SHORTEST_RUN,
    SPARSE_SIZE,
    between,
    byte_at,
    one_run,
    same_runs,
    with_run,
)
from tests.machine.harness import Outcome, error_text, run_source

HEAD = """#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <klee/klee.h>
#define GIB (1ull << 30)
static char *volatile kept;
static uint64_t input(const char *name) { uint64_t x; klee_make_symbolic(&x, sizeof x, name); return x; }
"""


def run(directory: Path, body: str, *flags: str, before: str = "") -> Outcome:
    return run_source(directory, f"{HEAD}{before}int main(void) {{\n{body}\n}}\n", *flags)


# Each: a body, and how its paths end: exit codes, and kinds of errors.
CASES: dict[str, tuple[str, list[int | str]]] = {
    "malloc of 1.5 GiB": (
        "char *p = malloc(3 * GIB / 2); p[0] = 1; p[3 * GIB / 2 - 1] = 2;"
        "return p[0] + 10 * p[3 * GIB / 2 - 1];", [21],
    ),
    "malloc of 3 GiB": (
        "char *p = malloc(3 * GIB); p[0] = 1; p[3 * GIB - 1] = 2; return p[0] + 10 * p[3 * GIB - 1];", [21],
    ),
    "a number across two pages": (
        "char *p = malloc(3 * GIB); *(uint64_t *)(p + 3 * GIB - 260) = 0x0102030405060708;"
        "return p[3 * GIB - 260] + 10 * p[3 * GIB - 253];", [18],
    ),
    "uninitialised": (
        "char *p = malloc(3 * GIB); p[0] = 1; p[3 * GIB - 1] = 1; if (p[2 * GIB]) return 1; return 2;",
        ["uninitialised"],
    ),
    "uninitialised beside what was written": (
        "char *p = malloc(3 * GIB); p[2 * GIB] = 1; if (p[2 * GIB + 1]) return 1; return 2;",
        ["uninitialised"],
    ),
    "one past the end": ("kept = malloc(3 * GIB); kept[3 * GIB] = 1; return 0;", ["out-of-bounds"]),
    "a number past the end": (
        "kept = malloc(3 * GIB); *(int *)(kept + 3 * GIB - 3) = 1; return 0;", ["out-of-bounds"],
    ),
    "one before the start": ("kept = malloc(3 * GIB); kept[-1] = 1; return 0;", ["out-of-bounds"]),
    "one past the end of another": (
        "char *q = malloc(3 * GIB), *p = malloc(3 * GIB); kept = p; kept[3 * GIB] = *q = 1; return 0;",
        ["out-of-bounds"],
    ),
    "use after free": (
        "char *p = malloc(3 * GIB); p[3 * GIB - 1] = 1; kept = p; free(p); return kept[3 * GIB - 1];",
        ["use-after-free"],
    ),
    "double free": ("char *p = malloc(3 * GIB); free(p); free(p); return 0;", ["double-free"]),
    "free of its middle": ("kept = malloc(3 * GIB); free(kept + 5 * GIB / 2);", ["invalid-free"]),
    "calloc": ("char *p = calloc(2, GIB); p[5] = 3; return p[0] + p[5] + p[2 * GIB - 1];", [3]),
    "calloc read anywhere": ("char *p = calloc(2, GIB); return p[input(\"i\") % (2 * GIB)];", [0]),
    "calloc read anywhere, or beyond": (
        "char *p = calloc(3, GIB); return p[input(\"i\")];", [0, "out-of-bounds"],
    ),
    "read anywhere behind an offset": (
        "char *p = calloc(3, GIB); p[5 * GIB / 2] = 7; uint64_t i = input(\"i\") & 0xFFFFFF;"
        "if (p[5 * GIB / 2 + i] == 7) return i == 0 ? 1 : 2; return 3;", [1, 3],
    ),
    "read anywhere of what was written": (
        "int *p = calloc(2, GIB); p[3] = 7; p[400000000] = 9; uint64_t i = input(\"i\") % (GIB / 2);"
        "if (p[i] == 7) return i == 3 ? 1 : 9; if (p[i] == 9) return i == 400000000 ? 2 : 9; return 3;",
        [1, 2, 3],
    ),
    "read across what was written": (
        "char *p = calloc(2, GIB); p[GIB] = 7; uint64_t i = input(\"i\") % (2 * GIB - 1);"
        "uint16_t v; memcpy(&v, p + i, 2);"
        "if (v == 7) return i == GIB ? 1 : 9; if (v == 0x700) return i == GIB - 1 ? 2 : 9; return v ? 9 : 3;",
        [1, 2, 3],
    ),
    "read of one of few": (
        "char *p = malloc(3 * GIB); p[0] = 1; p[3 * GIB - 1] = 2; uint64_t i = input(\"i\");"
        "klee_assume((i == 0) | (i == 3 * GIB - 1)); if (p[i] == 1) return 1; return p[i];", [1, 2],
    ),
    "write to one of few": (
        "char *p = malloc(3 * GIB); p[0] = 1; p[3 * GIB - 1] = 2; uint64_t i = input(\"i\");"
        "klee_assume((i == 0) | (i == 3 * GIB - 1)); p[i] = 5;"
        "if (p[0] == 5) return p[3 * GIB - 1]; return p[0] + 10 * p[3 * GIB - 1];", [2, 51],
    ),
    "realloc to 2 GiB and back": (
        "char *p = malloc(1024); for (int i = 0; i < 1024; i++) p[i] = i % 100;"
        "p = realloc(p, 2 * GIB); p[2 * GIB - 1] = 3; int end = p[2 * GIB - 1], middle = p[777];"
        "p = realloc(p, 1024); for (int i = 0; i < 1024; i++) if (p[i] != i % 100) return 1;"
        "return end + middle;", [80],
    ),
    "realloc between large sizes": (
        "char *p = calloc(1, GIB); p[7] = 7; p[GIB - 1] = 8; p = realloc(p, 3 * GIB); p[3 * GIB - 1] = 9;"
        "int sum = p[7] + p[GIB / 2] + p[GIB - 1] + p[3 * GIB - 1]; return sum + p[GIB - 300];", [24],
    ),
    "realloc leaves the rest uninitialised": (
        "char *p = calloc(1, GIB); p = realloc(p, 3 * GIB); if (p[GIB]) return 1; return 2;",
        ["uninitialised"],
    ),
    "memset of all": (
        "char *p = malloc(3 * GIB); p[4] = 1; memset(p, 9, 3 * GIB); p[5] = 2;"
        "return p[0] + p[4] + p[5] + p[3 * GIB - 1];", [29],
    ),
    "memset of a part": (
        "char *p = calloc(3, GIB); p[GIB + 1] = 1; memset(p + GIB + 3, 9, GIB);"
        "return p[GIB + 1] + p[GIB + 2] + p[GIB + 3] + p[GIB * 2 + 2] + p[GIB * 2 + 3];", [19],
    ),
    "memset beyond": ("char *p = malloc(3 * GIB); memset(p + 1, 9, 3 * GIB); return 0;", ["out-of-bounds"]),
    "memset of something unknown": (
        "char *p = malloc(2 * GIB); char c = input(\"c\"); memset(p, c, 2 * GIB); p[3] = 7;"
        "if (p[GIB] == 3) return p[2 * GIB - 1]; return p[3];", [3, 7],
    ),
    "memcpy": (
        "char *p = calloc(2, GIB), *q = malloc(2 * GIB); p[1] = 1; p[GIB] = 2; memcpy(q, p, 2 * GIB);"
        "p[1] = 0; q[GIB + 1] = 4; return q[0] + q[1] + q[GIB] + q[GIB + 1] + p[GIB + 1];", [7],
    ),
    "memcpy from a part": (
        "char *p = calloc(2, GIB), *q = malloc(GIB); p[GIB / 2 + 7] = 1; p[3 * GIB / 2 - 1] = 2;"
        "memcpy(q + 7, p + GIB / 2 + 7, GIB - 7); if (q[7] != 1 || q[GIB - 1] != 2 || q[GIB / 2]) return 1;"
        "if (q[6]) return 2; return 3;", ["uninitialised"],
    ),
    "memmove within": (
        "char *p = calloc(2, GIB); p[3] = 1; p[999999] = 2; memmove(p + 1, p, 1000000);"
        "return p[3] + 10 * p[4] + 100 * p[999999] + 50 * p[1000000];", [110],
    ),
    "a pointer into it": (
        "char *p = malloc(3 * GIB); p[3 * GIB - 1] = 3; char *volatile q = p + 3 * GIB - 1;"
        "return *q + (q > p);", [4],
    ),
    "one of two objects": (
        "char *p = malloc(3 * GIB), *q = malloc(3 * GIB); p[3 * GIB - 1] = 1; q[3 * GIB - 1] = 2;"
        "char *r = (input(\"c\") & 1 ? p : q) + 3 * GIB - 1; return *r;", [1, 2],
    ),
    "a global": (
        "big[0] = 1; big[3 * GIB - 1] = 2; return big[0] + big[GIB] + big[3 * GIB - 1] + after;", [7],
    ),
    "a smaller one read anywhere": (
        "char *p = calloc(1, 1 << 20); p[70000] = 3; if (p[input(\"i\") & 0xFFFFF]) return 1;", [0, 1],
    ),
}  # fmt: skip
GLOBAL = "static char big[3 * GIB]; static int after = 4;\n"


@pytest.mark.parametrize("name", CASES)
def test_large_objects(tmp_path: Path, name: str) -> None:
    body, wanted = CASES[name]
    start = time.process_time()
    outcome = run(tmp_path, body, before=GLOBAL if "big" in body else "")
    ends = {test.kind or test.exit_code for test in outcome.collector.tests}
    assert ends == set(wanted)
    assert outcome.result.complete
    assert len(outcome.collector.tests) == len(wanted) or "return p[input" in body
    assert time.process_time() - start < 20


@pytest.mark.parametrize("how", [[], ["--uninitialised", "zero"], ["--interpret"]])
def test_what_a_fresh_object_holds(tmp_path: Path, how: list[str]) -> None:
    outcome = run(tmp_path, "char *p = malloc(GIB); p[3] = 1; if (p[4]) return 1; return 2;", *how)
    (test,) = outcome.collector.tests
    assert (test.kind or test.exit_code) == (2 if "zero" in how else "uninitialised")


def test_what_the_error_says(tmp_path: Path) -> None:
    outcome = run(tmp_path, "char *p = malloc(3 * GIB); kept = p; kept[3 * GIB + 5] = 1; return 0;")
    (error,) = outcome.collector.errors
    assert "heap object 'malloc' of 3221225472 bytes" in error_text(error)
    assert "offset: 3221225477" in error_text(error)


def test_a_write_anywhere_is_a_handful_and_a_loss(tmp_path: Path) -> None:
    body = """char *p = calloc(2, GIB); uint64_t i = input("i") % (2 * GIB); p[i] = 3;
    return p[0] + 10 * p[2 * GIB - 1];"""
    outcome = run(tmp_path, body, "--max-time", "60")
    assert outcome.result.stopped is None and not outcome.result.complete
    assert set(outcome.losses()) == {"offset in a very large object: some of many values explored"}
    assert {test.exit_code for test in outcome.collector.tests} == {0, 3, 30}


@pytest.mark.parametrize(
    "what",
    ["memcpy(q + 1, p, 2 * GIB - 1)", "memmove(p + 256, p, GIB)", "memcmp(q, p, 2 * GIB)"],
)
def test_very_large_blocks_are_a_loss(tmp_path: Path, what: str) -> None:
    outcome = run(tmp_path, f"char *p = calloc(2, GIB), *q = malloc(2 * GIB); {what}; return p[1] + q[1];")
    assert set(outcome.losses()) == {"unsupported: very large block of memory"}


@pytest.mark.parametrize("used", [False, True])
def test_leaks(tmp_path: Path, used: bool) -> None:
    body = f"""char **p = malloc(3 * GIB); p[3 * GIB / 8 - 1] = malloc(7);
    kept = {"(char *)p" if used else "0"}; return 0;"""
    outcome = run(tmp_path, body, "--check", "memtrack")
    assert [kind for kind, _ in outcome.errors()] == ([] if used else ["leak"])


# ---- the store by itself -------------------------------------------------------------------------------


def test_runs() -> None:
    unknown = undefined(8)
    runs = with_run(one_run(unknown), 5, 9, 0)
    assert [byte_at(runs, position) for position in (4, 5, 8, 9)] == [unknown, 0, 0, unknown]
    assert list(between(runs, 8, 12)) == [(8, 9, 0), (9, 12, unknown)]
    assert same_runs(with_run(runs, 5, 9, unknown), one_run(unknown))
    assert same_runs(with_run(runs, 0, LAST, 3), one_run(3))
    assert not same_runs(runs, one_run(unknown)) and not same_runs(None, runs)
    assert len(with_run(runs, 9, 12, 0)) == 3


def test_large_objects_have_two_numbers() -> None:
    numbers = ObjectNumbers()
    site = numbers.new_site("heap", "malloc")
    found = [numbers.number(site, count, size) for count, size in ((1, 8), (2, NEAR + 1), (3, NEAR))]
    assert found == [1, 2, 4]
    assert numbers.number(site, 2, NEAR + 1) == 2 and numbers.number(site, 2, 8) == 5


def test_blocks_against_a_plain_list() -> None:
    """Random fills and copies of objects of which some are sparse, on the store and on lists of bytes."""
    rng = random.Random(7)
    numbers = ObjectNumbers()
    memory = Memory(numbers)
    site = numbers.new_site("heap", "malloc")
    sizes = [SPARSE_SIZE + 77, 2 * SHORTEST_RUN * PAGE_SIZE + 5, SPARSE_SIZE, 3 * SPARSE_SIZE, 40]
    bases = [memory.allocate(site, size, zero=index % 2 == 0) for index, size in enumerate(sizes)]
    unknown = undefined(8)
    plain = [[0 if index % 2 == 0 else unknown] * size for index, size in enumerate(sizes)]

    def part(size: int) -> tuple[int, int]:
        start = rng.choice([0, PAGE_SIZE, 3, rng.randrange(size)])
        return (start, rng.randrange(size - start + 1)) if start < size else (0, size)

    for _ in range(60):
        target = rng.randrange(len(sizes))
        start, count = part(sizes[target])
        if rng.random() < 0.4:
            byte = rng.choice([0, 7, unknown])
            if count:
                blocks.fill(memory, bases[target] + start, byte, count)
                plain[target][start : start + count] = [byte] * count
        elif rng.random() < 0.3:
            memory.freeze()
            memory.store(bases[target] + start, 1, 5)
            plain[target][start] = 5
        else:
            source = rng.randrange(len(sizes))
            at = rng.choice([start, 0, 1])
            count = max(0, min(count, sizes[source] - at))
            if count:
                blocks.copy(memory, bases[target] + start, bases[source] + at, count)
                plain[target][start : start + count] = plain[source][at : at + count]
    for base, size, data in zip(bases, sizes, plain, strict=True):
        held = memory.contents(base, size)
        assert all(x is y or (is_undefined(x) and y is unknown) for x, y in zip(held, data, strict=True))


def test_an_object_without_pages_costs_nothing() -> None:
    numbers = ObjectNumbers()
    memory = Memory(numbers)
    site = numbers.new_site("heap", "malloc")
    base = memory.allocate(site, 3 << 30)
    memory.store(base + (2 << 30), 4, 9)
    assert memory.load(base + (2 << 30), 4) == 9
    memory.freeze()
    assert len(memory.pages) == 1
    info = memory.find(base >> 32)
    assert info is not None
    memory.release(info, "freed")
    assert len(memory.pages) == 0 and not memory.S
