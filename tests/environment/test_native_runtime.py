"""The runtime for native replay: round trips through test files."""

from __future__ import annotations

import os
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.environment.libc_oracle import compile_native

RUNTIME = Path(__file__).parents[2] / "anabranch" / "native" / "klee_runtime.c"

PROGRAM = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
void klee_make_symbolic(void *, size_t, const char *);
void klee_assume(uintptr_t);
void klee_silent_exit(int);
void klee_report_error(const char *, int, const char *, const char *);
int klee_range(int, int, const char *), klee_int(const char *);
unsigned klee_is_replay(void);
long klee_get_valuel(long);
int __VERIFIER_nondet_int(void);
_Bool __VERIFIER_nondet_bool(void);
double __VERIFIER_nondet_double(void);
unsigned char __VERIFIER_nondet_uchar(void);
void __VERIFIER_assume(int);
void reach_error(void);
int main(int argc, char **argv) {
  char buffer[4];
  int x;
  klee_make_symbolic(buffer, sizeof buffer, "buffer");
  klee_make_symbolic(&x, sizeof x, "x");
  printf("%.4s %d\n", buffer, x);
  klee_assume(x > 0);
  if (x == 2) klee_report_error("f.c", 3, "two", "user");
  if (x == 3) klee_silent_exit(0);
  if (x == 4) reach_error();
  int n = klee_range(5, 9, "range"), fixed = klee_range(7, 8, "fixed"), i = klee_int("x");
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  _Bool t = __VERIFIER_nondet_bool();
  double d = __VERIFIER_nondet_double();
  unsigned char u = __VERIFIER_nondet_uchar();
  __VERIFIER_assume(u != 1);
  printf("%d %d %d %d %d %d %g ", n, fixed, i, a, b, t, d);
  printf("%u %u %ld\n", u, klee_is_replay(), klee_get_valuel(9));
  return 5;
}
"""

FUZZED = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  printf("%zu %.*s\n", size, (int)size, (const char *)data);
  return 0;
}
"""

OBJECTS = [
    ("buffer", b"text"),
    ("x", struct.pack("<i", 1)),
    ("range", struct.pack("<i", 6)),
    ("x_1", struct.pack("<i", -7)),
    ("nondet_int", struct.pack("<i", -8)),
    ("nondet_int_1", struct.pack("<i", 9)),
    ("nondet_bool", b"\1"),
    ("nondet_double", struct.pack("<d", 2.5)),
    ("nondet_uchar", b"\xc8"),
]


def ktest(objects: list[tuple[str, bytes]]) -> bytes:
    """A test file, version 3."""

    def counted(data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + data

    head = b"KTEST" + struct.pack(">II", 3, 1) + counted(b"program") + struct.pack(">III", 0, 0, len(objects))
    return head + b"".join(counted(name.encode()) + counted(data) for name, data in objects)


@dataclass(frozen=True)
class Programs:
    directory: Path

    def run(self, name: str, test: bytes | None) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if k != "KTEST_FILE"}
        if test is not None:
            path = self.directory / "test.ktest"
            path.write_bytes(test)
            environment["KTEST_FILE"] = str(path)
        command = [str(self.directory / name)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    directory = tmp_path_factory.mktemp("native")
    for name, source, flags in (("program", PROGRAM, ()), ("fuzzed", FUZZED, ("-DANABRANCH_FUZZER",))):
        (directory / f"{name}.c").write_text(source)
        compile_native([directory / f"{name}.c", RUNTIME], directory / name, *flags)
    return Programs(directory)


def changed(name: str, data: bytes) -> bytes:
    return ktest([(n, data if n == name else d) for n, d in OBJECTS])


def test_values_arrive_in_order(programs: Programs) -> None:
    done = programs.run("program", ktest(OBJECTS))
    assert done.returncode == 5, done.stderr
    assert done.stdout == "text 1\n6 7 -7 -8 9 1 2.5 200 1 9\n"


@pytest.mark.parametrize(
    ("test", "code", "message"),
    [
        (changed("x", struct.pack("<i", -1)), 98, "klee_assume is false"),
        (changed("nondet_uchar", b"\1"), 98, "__VERIFIER_assume is false"),
        (changed("x", struct.pack("<i", 2)), 99, "f.c:3: two (user)"),
        (changed("x", struct.pack("<i", 3)), 99, "klee_silent_exit(0)"),
        (changed("x", struct.pack("<i", 4)), 99, "reach_error() is called"),
        (changed("range", struct.pack("<i", 9)), 97, "not in its range"),
        (changed("x", b"123"), 97, "with 4 bytes, the test has 3"),
        (ktest([("other", b"text"), *OBJECTS[1:]]), 97, "'buffer' is asked for, the test has 'other'"),
        (ktest([("buffer_x", b"text"), *OBJECTS[1:]]), 97, "the test has 'buffer_x'"),
        (ktest(OBJECTS[:3]), 97, "no more objects"),
        (ktest(OBJECTS)[:-3], 97, "ends too soon"),
        (b"nothing", 97, "not a ktest file"),
        (None, 97, "KTEST_FILE is not set"),
    ],
)
def test_what_does_not_fit(programs: Programs, test: bytes | None, code: int, message: str) -> None:
    done = programs.run("program", test)
    assert done.returncode == code
    assert message in done.stderr


@pytest.mark.parametrize(
    ("size", "code", "output"), [(3, 0, "3 abc\n"), (0, 0, "0 \n"), (5, 0, "5 abcde\n"), (6, 97, "")]
)
def test_fuzzer_entry(programs: Programs, size: int, code: int, output: str) -> None:
    done = programs.run("fuzzed", ktest([("fuzz_size", struct.pack("<Q", size)), ("fuzz_data", b"abcde")]))
    assert (done.returncode, done.stdout) == (code, output)
