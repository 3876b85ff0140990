"""Native builds: speed of the tool chain aside, every kind of error that replay relies on is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.lib.native import CHECK_FLAGS, CHECKS_RUNTIMES, NativeError, build, run_native

ERRORS = """\
#include <stdlib.h>
#include <string.h>
int global[5];
char text[7];
__attribute__((noinline)) int get(int *p, int i) { return p[i]; }
int main(int argc, char **argv) {
  int local[3] = {1, 2, 3};
  int *heap = malloc(12);
  memset(heap, 0, 12);
  switch (atoi(argv[1])) {
  case 0: return get(local, 2) + get(global, 4) + get(heap, 2);
  case 1: return get(local, 3);
  case 2: return get(global, 5);
  case 3: return get(heap, 3);
  case 4: free(heap); return get(heap, 0);
  case 5: free(heap); free(heap); return 0;
  case 6: free(local); return 0;
  case 7: return 5 / (argc - 2);
  case 8: return 1 << (argc + 40);
  case 9: return get(0, 0);
  case 10: memcpy(text, "12345678", argc + 6); return 0;
  case 11: free(heap + 1); return 0;
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("native")
    (directory / "errors.c").write_text(ERRORS)
    return build(
        [directory / "errors.c"],
        directory / "errors",
        flags=("-g", "-Wno-everything", *CHECK_FLAGS),
        runtimes=CHECKS_RUNTIMES,
    )


def test_a_right_program_is_left_alone(program: Path) -> None:
    done = run_native(program, arguments=["0"])
    assert (done.code, done.signal, done.check_kind()) == (3, 0, None)


@pytest.mark.parametrize(
    ("choice", "kind"),
    [(1, "ptr"), (2, "ptr"), (3, "ptr"), (4, "ptr"), (5, "free"), (6, "free"), (7, "div"), (8, "overshift"),
     (9, "ptr"), (10, "ptr"), (11, "free")],
)  # fmt: skip
def test_errors_are_named(program: Path, choice: int, kind: str) -> None:
    assert run_native(program, arguments=[str(choice)]).check_kind() == kind


def test_compiler_messages_reach_the_caller(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int main(void) { return x; }\n")
    with pytest.raises(NativeError, match="undeclared"):
        build([tmp_path / "bad.c"], tmp_path / "bad")


def test_time_limit(tmp_path: Path) -> None:
    (tmp_path / "loop.c").write_text("int main(void) { for (volatile int i = 0;; i++) {} }\n")
    built = build([tmp_path / "loop.c"], tmp_path / "loop")
    assert run_native(built, time_limit=0.2).timed_out
