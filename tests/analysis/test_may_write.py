"""May-write sets: every write of a running program is inside them, and they tell apart what they should."""

from pathlib import Path

import pytest

from anabranch.analysis.abstract_objects import COPIED, PASSED
from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.may_write import MayWrite
from anabranch.analysis.points_to import PointsTo
from anabranch.analysis.written_places import WrittenPlaces
from anabranch.environment.effects import CallEffects
from anabranch.ir import read_module
from bench.lib.generate import generate
from tests.analysis.written import check_writes

HEAD = """#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include "klee/klee.h"
int in(void) { int x; klee_make_symbolic(&x, sizeof x, "x"); return x; }
"""
TRAPS = {
    "a pointer copied byte by byte": """
        struct s { int *p; } a, b; int x;
        int main(void) {
          a.p = &x;
          for (unsigned i = 0; i < sizeof a; i++) ((char *)&b)[i] = ((char *)&a)[i];
          *b.p = 1;
          return 0;
        }""",
    "a pointer in an integer": """
        int x, y; unsigned long place;
        int main(void) { place = (unsigned long)(in() ? &x : &y); *(int *)(place ^ 0) = 3; return 0; }""",
    "a pointer to a pointer": """
        int x, y, *p = &x, **q = &p;
        void turn(int ***r) { if (in() > 3) **r = &y; }
        int main(void) { turn(&q); **q = 3; *p = 4; return 0; }""",
    "functions in a table": """
        int x, y; void f(int i) { x = i; } void g(int i) { y = i; }
        void (*table[])(int) = {f, g};
        int main(void) { table[in() & 1](5); return 0; }""",
    "variable arguments": """
        int x, y;
        void set(int n, ...) {
          va_list l, m; va_start(l, n); va_copy(m, l);
          for (int i = 0; i < n; i++) *va_arg(l, int *) = i;
          *va_arg(m, int *) = 7; va_end(l); va_end(m);
        }
        int main(void) { set(2, &x, &y); set(8, &x, &y, &x, &y, &x, &y, &x, &y); return 0; }""",
    "a struct by value": """
        struct big { long a[8]; int *p; }; int x;
        int use(struct big b) { b.a[1] = 3; *b.p = 1; return b.a[1]; }
        int main(void) { struct big b = {{0}, &x}; return use(b); }""",
    "realloc keeps pointers": """
        int x;
        int main(void) {
          int **p = malloc(8); *p = &x; p = realloc(p, 64); *p[0] = 1; free(p);
          char *s = strdup("abc"); s[0] = 'x'; return 0;
        }""",
    "string functions": """
        char text[] = "a,b;c", out[32]; char *end;
        int main(void) {
          char *save, *t = strtok_r(text, ",", &save); t[0] = 'x';
          t = strtok_r(0, ";", &save); if (t) t[0] = 'y';
          char more[] = "k v"; t = strtok(more, " "); t[0] = 'z'; t = strtok(0, " "); if (t) t[0] = 'q';
          strcpy(out, text); *stpcpy(out, "ab") = 0; *strchr(out, 'a') = 'b';
          memset(memchr(out, 'b', 9), 1, 1);
          char number[] = "12x"; strtol(number, &end, 10); *end = 'e';
          char *sep = number, *first = strsep(&sep, "e"); first[0] = '2'; if (sep) sep[0] = 0;
          return sprintf(out, "%d%n", in() & 3, &(int){0});
        }""",
    "errno and sizes": """
        int main(void) {
          char *p = malloc((unsigned)in() % 8); if (!p) return errno; errno = 3;
          int *q = calloc(3, 4); q[in() & 1] = 4;
          void *r; if (!posix_memalign(&r, 16, 32)) ((char *)r)[3] = 1;
          free(p); free(q); return 0;
        }""",
    "a symbolic index": """
        int a[4], b[4];
        int main(void) { int i = in(), *p = i & 4 ? a : b; p[i & 3] = 1; return 0; }""",
    "functions at exit": """
        int x; void last(void) { x = 5; } int main(void) { atexit(last); return 0; }""",
}
LIBRARY = {
    "sorting and printing": """
        int x; struct pair { int *p; int k; };
        int by_key(const void *a, const void *b) { return ((struct pair *)a)->k - ((struct pair *)b)->k; }
        int main(int argc, char **argv) {
          struct pair pairs[3] = {{&x, 3}, {&x, 1}, {&x, 2}};
          qsort(pairs, 3, sizeof *pairs, by_key);
          *pairs[0].p = 1;
          if (argc > 1) argv[1][0] = 'x';
          char line[8]; if (fgets(line, sizeof line, stdin)) printf("%s %d\\n", line, x);
          FILE *f = fopen("A", "r"); int c = f ? getc(f) : 0; if (f) fclose(f);
          char *copy; size_t size; FILE *m = open_memstream(&copy, &size);
          fprintf(m, "%d", c & 1); fclose(m); copy[0] = 0; free(copy);
          return putchar(c & 7) < 0;
        }""",
}


@pytest.mark.parametrize("name", TRAPS)
def test_every_write_is_inside(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.c").write_text(HEAD + TRAPS[name])
    check = check_writes(tmp_path / "p.c", monkeypatch)
    assert check.writes


@pytest.mark.parametrize("name", LIBRARY)
def test_every_write_of_the_library_is_inside(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.c").write_text(HEAD + LIBRARY[name])
    options = ("--sym-args", "0", "1", "2", "--sym-stdin", "2", "--sym-files", "1", "2")
    check = check_writes(tmp_path / "p.c", monkeypatch, *options, "--max-instructions", "200000", libc="musl")
    assert check.writes > 1000


@pytest.mark.parametrize("seed", range(40))
def test_every_write_of_a_generated_program_is_inside(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.c").write_text(generate(91_000 + seed).text)
    check_writes(tmp_path / "p.c", monkeypatch, "--max-instructions", "20000")


PRECISE = """
@x = global i32 0
@y = global i32 0
@p = global ptr @x
@k = constant i32 7
declare void @unknown(ptr)
declare i64 @strlen(ptr)
declare ptr @memcpy(ptr, ptr, i64)

define void @f(i1 %c) {
  store i32 1, ptr @x
  br i1 %c, label %then, label %done
then:
  %q = load ptr, ptr @p
  store i32 2, ptr %q
  call void @g(ptr @y)
  br label %done
done:
  ret void
}
define void @g(ptr %a) {
  store i32 3, ptr %a
  %n = call i64 @strlen(ptr %a)
  ret void
}
define void @h() {
  %z = alloca i32
  %w = alloca i32
  call void @unknown(ptr %z)
  %m = call ptr @memcpy(ptr %w, ptr @x, i64 4)
  store i32 3, ptr @k
  ret void
}
define void @main() {
  call void @f(i1 0)
  call void @h()
  ret void
}
"""


def analysed() -> tuple[MayWrite, PointsTo]:
    module = read_module(PRECISE)
    graph = build_call_graph(module, ["main"])
    effects = CallEffects(graph)
    points_to = PointsTo(graph, ["main"], effects)
    return MayWrite(points_to, effects), points_to


def test_what_is_told_apart() -> None:
    may_write, points_to = analysed()
    objects, functions = points_to.objects, points_to.graph.module.functions

    def written(mask: int) -> set[str]:
        return {str(key[-1] if key[0] != "local" else key[2]) for key in objects.of(mask)}

    f = functions["f"]
    assert written(may_write.function("g")) == {"y"}
    assert written(may_write.function("f")) == {"x", "y"}
    assert written(may_write.block(f, 0)) == {"x"}
    assert written(may_write.region(f, 0b10)) == {"x", "y"}
    assert written(may_write.instruction(f, 1, 2)) == {"y"}
    assert not may_write.block(f, 2)
    # What is unknown writes what it is given, what it makes (2), and all of the environment; no constants.
    assert written(may_write.instruction(functions["h"], 0, 2)) == {"0", "2", "outside", "environment"}
    assert written(may_write.function("h")) == {"0", "1", "2", "outside", "environment"}


def test_arguments_by_value_and_variable_ones_are_objects_of_their_own() -> None:
    _, points_to = analysed()
    assert not points_to.objects.known(COPIED) and not points_to.objects.known(PASSED)


def test_system_calls_are_told_by_their_numbers() -> None:
    module = read_module(
        """
declare i64 @__syscall3(i64, i64, ptr, i64)
declare i64 @__syscall6(i64, i64, i64, i64, i64, i64, i64)

define i64 @through(i64 %n, i64 %a, i64 %b, i64 %c) {
  %r = call i64 @__syscall6(i64 %n, i64 %a, i64 %b, i64 %c, i64 0, i64 0, i64 0)
  ret i64 %r
}
define void @main(i64 %x) {
  %buffer = alloca [8 x i8]
  %r = call i64 @__syscall3(i64 1, i64 1, ptr %buffer, i64 8)
  %s = call i64 @__syscall3(i64 0, i64 0, ptr %buffer, i64 8)
  %a = ptrtoint ptr %buffer to i64
  %t = call i64 @through(i64 3, i64 4, i64 0, i64 0)
  %u = call i64 @through(i64 1, i64 4, i64 %a, i64 0)
  ret void
}""".lstrip()
    )
    graph = build_call_graph(module, ["main"])
    effects = CallEffects(graph)
    points_to = PointsTo(graph, ["main"], effects)
    may_write, main = MayWrite(points_to, effects), module.functions["main"]
    objects = points_to.objects
    buffer = objects.known(("local", "main", 1))
    write, read = may_write.instruction(main, 0, 1), may_write.instruction(main, 0, 2)
    assert not write & buffer and write & objects.known(("kernel", "output"))
    assert read & buffer and not read & objects.known(("kernel", "output"))
    closing = may_write.function("through")
    assert closing & objects.known(("kernel", "fd")) and not closing & buffer
    assert not points_to.outside & buffer


FIELDS = """
%struct.S = type { i32, i32 }
@s = global %struct.S zeroinitializer
@t = global %struct.S zeroinitializer
define void @first() {
  store i32 1, ptr @s
  ret void
}
define void @second(i1 %c, i64 %i) {
  call void @first()
  %p = getelementptr %struct.S, ptr @s, i32 0, i32 1
  store i32 2, ptr %p
  %q = getelementptr i32, ptr @t, i64 %i
  store i32 3, ptr %q
  store i32 4, ptr @t
  ret void
}
define void @main() {
  call void @second(i1 0, i64 0)
  ret void
}
"""


def test_fields_of_globals_are_told_apart() -> None:
    module = read_module(FIELDS)
    graph = build_call_graph(module, ["main"])
    effects = CallEffects(graph)
    points_to = PointsTo(graph, ["main"], effects)
    written = WrittenPlaces(MayWrite(points_to, effects))
    functions = module.functions
    assert written.region(functions["first"], 1) == (0, {("s", 0, 4)})
    # What is written at a variable offset is written as a whole.
    assert written.region(functions["second"], 1) == (
        points_to.objects.known(("symbol", "t")), {("s", 0, 4), ("s", 4, 4)},
    )  # fmt: skip
