"""The parts of what models keep: what programs declare, what keeps two paths apart, what depends on what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.environment.call_parts import call_parts, touched
from anabranch.environment.parts import ANY, Key, Notes, content, differing, parts
from anabranch.environment.posix.filesystem import standard_file_system, with_file
from anabranch.environment.posix.kernel import FILES
from anabranch.environment.posix.numbers import NUMBERS
from anabranch.expr import var
from tests.environment.posix.system import Model
from tests.environment.watched import explore, watch

PROGRAMS = Path(__file__).parent / "posix" / "programs"
KERNEL = f'#include "{PROGRAMS / "kernel.h"}"\n'
READ, WRITE = NUMBERS["read"], NUMBERS["write"]

GUARDED_READS = (
    KERNEL
    + """
#include "klee/klee.h"
int main(void) {
  char which[6], buffer[8];
  klee_make_symbolic(which, sizeof which, "which");
  for (int i = 0; i < 6; i++)
    if (which[i]) CALL3(0, 0, buffer, 1);
  return CALL3(1, 1, "x", 1);
}"""
)


@pytest.mark.parametrize("stdout", [(), ("--sym-stdout",)])
def test_what_was_read_does_not_tell_a_write_to_standard_output(
    stdout: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, states, paths = set(), set(), []

    def see(name: str, arguments: tuple[Any, ...], notes: Notes) -> None:
        if arguments[0] == WRITE:
            found = call_parts(name, arguments, notes, notes)
            assert found is not None
            paths.append(notes)
            read.add(tuple((key, content(notes, key)) for key in sorted(found.reads)))
            states.add(tuple(content(notes, key) for key in parts(notes)))

    watch(monkeypatch, see)
    (tmp_path / "p.c").write_text(GUARDED_READS)
    explore(tmp_path / "p.c", "--sym-stdin", "6", *stdout)
    assert (len(paths), len(states), len(read)) == (64, 7, 1)
    assert {key for notes in paths for key in differing(paths[0], notes)} == {("offset", 1)}


# ---- programs do what models declare -------------------------------------------------------------------

LIBRARY = """
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
static void last(void) { puts("end"); }
int main(int argc, char **argv) {
  char line[8];
  atexit(last);
  if (argc > 1 && argv[1][0] == 'e') return getenv("HOME") == 0;
  if (argc > 1 && argv[1][0] == 't') return time(0) & 1;
  FILE *out = fopen("out", "w+");
  fprintf(out, "%s", fgets(line, sizeof line, stdin) ? line : "none");
  rewind(out);
  int c = getc(out);
  fclose(out);
  int fd = open("out", O_WRONLY | O_APPEND), other = dup(fd);
  write(other, &c, 1);
  close(fd);
  struct iovec v[2] = {{line, 1}, {line, 2}};
  writev(other, v, 2);
  struct stat status;
  if (fstat(other, &status) || lseek(other, 0, SEEK_END) != status.st_size) abort();
  close(other);
  FILE *a = fopen("A", "r");
  if (a && getc(a) == 'x') unlink("out");
  if (mkdir("d", 0700) || chdir("d") || rmdir("../d")) perror("d");
  char *copy = strdup(line);
  free(copy);
  return open("out", O_RDONLY) < 0 ? errno : 0;
}"""
RAW = {
    "failures on demand": (
        KERNEL + """
        int main(void) {
          char b[4];
          long n = CALL3(0, 0, b, 4);
          if (n < 0) n = CALL3(0, 0, b, 4);
          return CALL3(1, 1, b, n > 0 ? n : 0) < 0 ? 3 : CALL1(3, 1) < 0;
        }""",
        ("--sym-stdin", "4", "--max-fail", "1", "--sym-stdout"),
    ),
    "files of any length": (
        KERNEL + """
        int main(void) {
          char b[8], s[144];
          long n = CALL3(0, 0, b, 8);
          if (n > 3) CALL3(8, 0, 1, 0);
          CALL2(5, 0, s);
          return CALL3(0, 0, b, 2);
        }""",
        ("--sym-stdin", "6", "--sym-file-size", "symbolic"),
    ),
    "a name and a descriptor that the input decides": (
        KERNEL + """
        #include "klee/klee.h"
        int main(void) {
          char name[3], b[2];
          int fd;
          klee_make_symbolic(name, sizeof name, "name");
          klee_make_symbolic(&fd, sizeof fd, "fd");
          klee_assume(fd >= 0 & fd < 5);
          name[2] = 0;
          CALL3(2, name, 0102, 0644);
          CALL3(1, fd, name, 1);
          return CALL3(0, fd, b, 2);
        }""",
        ("--sym-files", "1", "2"),
    ),
    "allocations that fail, and names of inputs": (
        """
        #include <stdlib.h>
        #include "klee/klee.h"
        int main(void) {
          int *p = malloc(4), *q = calloc(1, 4);
          if (!p || !q) return klee_int("x");
          klee_make_symbolic(p, 4, "x");
          return klee_range(0, 3, "x") + !realloc(p, 8);
        }""",
        ("--failing-allocations",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RAW)
def test_a_program_reads_and_writes_what_is_declared(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, options = RAW[name]
    checks = watch(monkeypatch)
    (tmp_path / "p.c").write_text(source)
    assert explore(tmp_path / "p.c", *options).result.complete
    assert not checks.undeclared and (checks.states or "allocations" in name)


@pytest.mark.parametrize("program", ["layouts.c", "input_output.c", "hostile.c"])
def test_a_program_of_system_calls_reads_and_writes_what_is_declared(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = watch(monkeypatch)
    explore(PROGRAMS / program)
    assert checks.calls > 15 and checks.states > checks.calls


def test_a_c_library_reads_and_writes_what_is_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = watch(monkeypatch)
    (tmp_path / "p.c").write_text(LIBRARY)
    options = ("--sym-args", "0", "1", "1", "--sym-stdin", "2", "--sym-files", "1", "2", "--sym-stdout")
    explore(tmp_path / "p.c", *options, libc="musl")
    assert checks.calls > 100 and not checks.undeclared


# ---- what depends on what ------------------------------------------------------------------------------


class Trace:
    """Calls, one after the other, and which of the earlier ones the last one depends on."""

    def __init__(self) -> None:
        self.model = Model(with_file(standard_file_system(), b"A", b"contents"))
        self.calls: list[tuple[str, tuple[Any, ...], Notes, Notes]] = []

    def call(self, name: str, *arguments: int | bytes) -> None:
        values = [self.model.text(a) if isinstance(a, bytes) else a & (1 << 64) - 1 for a in arguments]
        before = dict(self.model.m.notes)
        self.model.call(name, *values)
        self.calls.append((name, (NUMBERS[name], *values), before, dict(self.model.m.notes)))

    def relevant(self) -> list[str]:
        """The calls before the last one that its result depends on, or what it reads into memory."""
        needed: set[Key] = set()
        found = []
        for position, (name, arguments, before, after) in reversed(list(enumerate(self.calls))):
            call = call_parts("__syscall6", arguments, before, after)
            assert call is not None
            last = position == len(self.calls) - 1
            if last or touched(needed, call.writes):
                targets = touched(needed, call.writes)
                passed = [
                    source
                    for source, target in call.passes
                    if isinstance(source, tuple) and (target in targets or not isinstance(target, tuple))
                ]
                needed = (needed - call.made) | call.reads | {key for key in passed if isinstance(key, tuple)}
                found += [] if last else [name]
        return found[::-1]


NEW = ("open", b"new", 0o1102, 0o644)
DEPENDENCES: dict[str, tuple[list[tuple[Any, ...]], list[str]]] = {
    "a write to standard output on nothing": (
        [("read", 0, bytes(4), 4), ("write", 2, b"x", 1), ("write", 1, b"x", 1), ("write", 1, b"y", 1)],
        [],
    ),
    "a read of one file not on another": (
        [("open", b"A", 0), ("read", 0, bytes(4), 2), ("write", 1, b"x", 1), ("read", 3, bytes(4), 4)],
        ["open"],
    ),
    "a read on the reads before it": (
        [("open", b"A", 0), ("read", 3, bytes(4), 2), ("read", 3, bytes(4), 2)],
        ["open", "read"],
    ),
    "a file that is read back on what was written": (
        [NEW, ("write", 3, b"abc", 3), ("lseek", 3, 0, 0), ("write", 1, b"x", 1), ("read", 3, bytes(4), 4)],
        ["open", "write", "lseek"],
    ),
    "the contents not on the offset of another descriptor": (
        [NEW, ("open", b"A", 0), ("write", 3, b"abc", 3), ("lseek", 4, 2, 0), ("pread64", 3, bytes(4), 4, 0)],
        ["open", "open", "write"],  # with another path, the second would open or empty the same file
    ),
    "a file that is opened again, on what was written before": (
        [NEW, ("write", 3, b"ab", 2), ("close", 3), ("open", b"new", 0), ("read", 3, bytes(4), 4)],
        ["open", "write", "close", "open"],
    ),
    "a write at the end on the size": (
        [("open", b"A", 0o2001), ("ftruncate", 3, 2), ("write", 3, b"x", 1)],
        ["open", "ftruncate"],
    ),
    "a duplicate shares its offset": (
        [("open", b"A", 0), ("dup", 3), ("lseek", 3, 4, 0), ("read", 4, bytes(4), 4)],
        ["open", "dup", "lseek"],
    ),
    "a name that is gone on what removed it": (
        [("unlink", b"A"), ("write", 1, b"x", 1), ("open", b"A", 0)],
        ["unlink"],
    ),
    "the number of a descriptor on who else is open": (
        [("open", b"A", 0), ("close", 0), ("read", 3, bytes(4), 1), ("open", b"A", 0)],
        ["open", "close"],
    ),
    "the clock on who looked, and nothing else does": (
        [("time", 0), ("write", 1, b"x", 1), ("time", 0)],
        ["time"],
    ),
    "times of files on the clock": (
        [("time", 0), NEW, ("write", 3, b"x", 1), ("fstat", 3, bytes(144))],
        ["time", "open", "write"],
    ),
    "contents not on the clock": ([("time", 0), NEW, ("pread64", 3, bytes(4), 4, 0)], ["open"]),
    "modes of new files on the mask": (
        [("umask", 0o77), ("open", b"new", 0o102, 0o666), ("fstat", 3, bytes(144))],
        ["umask", "open"],
    ),
    "random bytes on those before": (
        [("getrandom", bytes(4), 4, 0), ("time", 0), ("getrandom", bytes(4), 4, 0)],
        ["getrandom"],
    ),
    "a pipe on what was put into it": (
        [("pipe", bytes(8)), ("write", 4, b"ab", 2), ("write", 1, b"x", 1), ("read", 3, bytes(4), 4)],
        ["pipe", "write"],
    ),
    "a copy between descriptors on what it copied": (
        [NEW, ("open", b"A", 0), ("sendfile", 3, 4, 0, 4), ("umask", 0), ("pread64", 3, bytes(4), 4, 0)],
        ["open", "open", "sendfile"],
    ),
}


@pytest.mark.parametrize("name", DEPENDENCES)
def test_a_call_depends(name: str) -> None:
    steps, wanted = DEPENDENCES[name]
    trace = Trace()
    for step in steps:
        trace.call(*step)
    assert trace.relevant() == wanted


def test_a_descriptor_that_is_not_known_may_be_any() -> None:
    notes = Trace().model.m.notes
    found = call_parts("__syscall3", (READ, var("fd", 32), 1 << 32, 4), notes, notes)
    assert found is not None
    assert {("fd", ANY), ("offset", ANY), ("size", ANY), ("random", None)} <= found.reads
    assert touched([("offset", 7)], found.writes) and found.by == {1}
    assert touched([("offset", ANY)], frozenset([("offset", 3)])) == {("offset", ANY)}


def test_who_does_something_else_may_be_known_by_its_kinds() -> None:
    notes = Trace().model.m.notes
    found = call_parts("__syscall3", (WRITE, 1, 1 << 32, 4), notes, notes)
    assert found is not None and not found.writes
    assert found.kinds == {"offset", "data", "size", "times", "failures"} and found.by == {1}
    assert found.chooses == {("fd", 1), ("file", 2), ("node", 25)}
    assert not found.passes  # nobody reads what was written


def test_what_was_open_and_is_not_leaves_no_trace() -> None:
    trace = Trace()
    trace.call("close", 99)
    before = dict(trace.model.m.notes)
    for step in (("open", b"A", 0), ("read", 3, bytes(4), 4), ("close", 3)):
        trace.call(*step)
    assert not differing(before, trace.model.m.notes)
    trace.call("open", b"A", 0)
    here, there = trace.model.m.notes, dict(trace.model.m.notes)
    there[FILES] = there[FILES].changed(now=5)
    assert differing(here, there) == {("clock", None)}
