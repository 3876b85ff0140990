"""Operands with many values: pointers are resolved by object, sizes by a few that stand for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.environment.heap import MAY_SUCCEED
from tests.machine.harness import Outcome, error_text, run_source

HEAD = """#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <klee/klee.h>
static char *volatile kept;
static uint64_t input(const char *name) { uint64_t x; klee_make_symbolic(&x, sizeof x, name); return x; }
"""


def run(directory: Path, body: str, *flags: str) -> Outcome:
    return run_source(directory, f"{HEAD}int main(void) {{\n{body}\n}}\n", *flags)


def ends(outcome: Outcome) -> tuple[int, int]:
    return outcome.result.paths_exit, outcome.result.paths_error


FREES: dict[str, tuple[str, tuple[int, int], list[str]]] = {
    "any number": ("free((void *)input(\"p\"));", (1, 1), ["invalid-free"]),
    "any number with two objects": (
        "char *a = malloc(1), *b = malloc(2); free((void *)input(\"p\"));", (3, 1), ["invalid-free"],
    ),
    "an index": (  # null is one, which the pointer is where the sum wraps around
        "char *a = malloc(4); free(a + input(\"i\"));", (2, 1), ["invalid-free"],
    ),
    "one of two": (
        "char *p[2] = {malloc(1), malloc(2)}; free(p[input(\"i\") & 1]);", (2, 0), [],
    ),
    "one of two, or of none": (
        "char *p[4] = {malloc(1), malloc(2), 0, 0}; char local; p[3] = &local; free(p[input(\"i\") & 3]);",
        (3, 1), ["invalid-free"],
    ),
    "one of a live and a freed one": (
        "char *p[2] = {malloc(1), malloc(2)}; free(p[1]); free(p[input(\"i\") & 1]);", (1, 1),
        ["double-free"],
    ),
    "realloc of an index": (
        "char *a = malloc(4); a = realloc(a + input(\"i\"), 8);", (2, 1), ["invalid-free"],
    ),
    "an index made symbolic": (
        "char a[4]; klee_make_symbolic(a + input(\"i\"), 4, \"a\");", (1, 1), ["invalid-pointer"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FREES)
def test_pointers_fork_once_an_object(tmp_path: Path, name: str) -> None:
    body, paths, kinds = FREES[name]
    outcome = run(tmp_path, body + " return 0;")
    assert [error.kind for error in outcome.collector.errors] == kinds
    assert ends(outcome) == paths
    assert outcome.result.complete


def test_an_error_tells_the_value_in_its_test(tmp_path: Path) -> None:
    outcome = run(tmp_path, 'char *a = malloc(4); free(a + input("i")); return 0;')
    (error,) = outcome.collector.errors
    (test,) = [test for test in outcome.collector.tests if test.end == "error"]
    index = int.from_bytes(dict(test.objects)["i"], "little")
    (address,) = [line for line in error.info if line.startswith("address: ")]
    assert int(address.split()[1], 16) & 0xFFFFFFFF == index & 0xFFFFFFFF
    assert "heap object 'malloc' of 4 bytes" in error_text(error)


SIZES = {
    "malloc": "malloc(n)",
    "calloc": "calloc(n, 3)",
    "calloc of two": 'calloc(n, input("m"))',
    "realloc": "realloc(malloc(1), n)",
    "array": "({ char array[n + 1]; array; })",
    "alloca": "alloca(n)",
}


@pytest.mark.parametrize("name", SIZES)
def test_many_sizes_are_a_handful_and_a_loss(tmp_path: Path, name: str) -> None:
    body = f'uint64_t n = (uint16_t)input("n"); char *p = {SIZES[name]}; return p == 0;'
    outcome = run(tmp_path, body, "--max-time", "60")
    assert outcome.result.stopped is None
    assert 4 <= outcome.result.paths_exit <= 60
    (kind,) = set(outcome.losses()) - {MAY_SUCCEED}
    assert kind.endswith("some of many values explored") and not any(c.isdigit() for c in kind)
    places = outcome.exploration.reporter.losses.as_dict()[kind]
    assert all(place.endswith("subject.c:9") for place in places)
    sizes = {int.from_bytes(dict(test.objects)["n"][:2], "little") for test in outcome.collector.tests}
    assert min(sizes) == 0 and (max(sizes) >= 1 << 15 or name == "calloc of two")


@pytest.mark.parametrize("name", SIZES)
def test_sizes_up_to_the_capacity_are_one_path(tmp_path: Path, name: str) -> None:
    call = SIZES[name].replace("input", "3 + 0 * input")
    body = f'uint64_t n = input("n") & 7; kept = {call}; return n;'
    outcome = run(tmp_path, body)
    assert ends(outcome) == (1, 0) and outcome.result.complete


@pytest.mark.parametrize("name", SIZES)
def test_sizes_beyond_the_capacity_are_taken_one_by_one(tmp_path: Path, name: str) -> None:
    call = SIZES[name].replace("input", "3 + 0 * input")
    body = f'uint64_t n = input("n") & 7; kept = {call}; return n;'
    outcome = run(tmp_path, body, "--capacity", "3")
    assert 5 <= outcome.result.paths_exit <= 8 and outcome.result.complete
    assert {7, 6, 5} <= {test.exit_code for test in outcome.collector.tests}


COPIES = {
    "memcpy": "memcpy(b, a, n)",
    "memset": "memset(b, 7, n)",
    "memmove within": "memmove(a + 1, a, n)",
}


@pytest.mark.parametrize("flags", [(), ("-fno-builtin",)], ids=["intrinsic", "function"])
@pytest.mark.parametrize("name", COPIES)
def test_many_lengths_are_one_path(tmp_path: Path, name: str, flags: tuple[str, ...]) -> None:
    """Each byte is written under the condition that the block reaches it; what does not fit is one error."""
    call = COPIES[name] if not flags else f"(*call)({COPIES[name].split('(', 1)[1]}"
    pointer = "" if not flags else f"__typeof__({name.split()[0]}) *volatile call = {name.split()[0]};"
    body = f"""unsigned char a[101], b[100];
  for (int i = 0; i < 101; i++) a[i] = i;
  memset(b, 200, 100);
  uint64_t n = input("n"); {pointer}
  {call};
  unsigned char *w = {"a" if "within" in name else "b"};
  unsigned char last = n ? w[n - 1 + (w == a)] : 0, next = n < 99 ? w[n + (w == a)] : 0;
  klee_assert(n == 0 || last == (w == a ? n - 1 : {"7" if "memset" in name else "n - 1"}));
  klee_assert(n >= 99 || next == (w == a ? n + 1 : 200));
  return 0;"""
    outcome = run(tmp_path, body)
    assert [error.kind for error in outcome.collector.errors] == ["out-of-bounds"]
    assert outcome.result.complete
    assert outcome.result.paths_total <= 8


ARGUMENTS = {
    "exactly": ("strlen(argv[1]) + 1", "strlen(argv[1]) != 3", [("assert", 8)]),
    "one too many": ("strlen(argv[1]) + 2", "1", [("out-of-bounds", 7)]),
    "any": ("n", "n != 1 || argv[1][0] != 0", [("assert", 8), ("out-of-bounds", 7)]),
}


@pytest.mark.parametrize("call", ["memcpy", "call"], ids=["intrinsic", "function"])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_copy_of_an_argument_stays_within_it(tmp_path: Path, name: str, call: str) -> None:
    """An argument ends at its NUL: what a length reaches behind it is an error, and nothing else is."""
    length, condition, errors = ARGUMENTS[name]
    source = f"""#include <string.h>
#include <klee/klee.h>
int main(int argc, char **argv) {{
  char copy[64];
  __typeof__(memcpy) *volatile call = memcpy;
  unsigned long n; klee_make_symbolic(&n, sizeof n, "n");
  {call}(copy, argv[1], {length});
  klee_assert({condition});
  return 0;
}}
"""
    outcome = run_source(tmp_path, source, "--strings", "whole", "--sym-arg", "20")
    assert outcome.errors() == errors


def test_names_of_inputs_do_not_fork(tmp_path: Path) -> None:
    body = """char name[4] = "ab";
  *(uint16_t *)name = input("n"); name[2] = 0;
  int x; klee_make_symbolic(&x, sizeof x, name);
  int y; klee_make_symbolic(&y, sizeof y, name + (input("m") & 63));
  return 0;"""
    outcome = run(tmp_path, body)
    assert ends(outcome) == (1, 0) and outcome.result.complete
    assert "unnamed" in dict(outcome.collector.tests[0].objects)


@pytest.mark.parametrize(
    ("size", "lost"), [("1ull << 32", True), ("3ull << 30", False), ("~0ull - 8", False), ("1 << 20", False)]
)
def test_an_allocation_that_may_succeed_does_not_just_fail(tmp_path: Path, size: str, lost: bool) -> None:
    outcome = run(tmp_path, f"char *p = malloc({size}); return p == 0;")
    assert set(outcome.losses()) == ({MAY_SUCCEED} if lost else set())
    assert outcome.result.complete == (not lost)
