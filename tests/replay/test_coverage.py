"""Counters in LLVM text: lines and branch sides are those that run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anabranch.native.run import run_native
from anabranch.replay.build import Built, build_native
from anabranch.replay.coverage import Gathered
from anabranch.replay.record import ProgramRecord

SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void stop(int code) { if (code) _exit(code); }
int classify(int n) {
  switch (n) {
  case 1:
  case 2: return 10;
  case 3: return 20;
  case -7: return 30;
  }
  return n > 50 && n < 60 ? 1 : 0;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  printf("%d\\n", classify(n));
  fflush(stdout);
  stop(n == 3);
  puts("end");
  if (n == 4) abort();
  return 0;
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    directory = tmp_path_factory.mktemp("coverage")
    (directory / "p.c").write_text(SOURCE)
    return build_native(ProgramRecord(directory, ((Path("p.c"), ""),)), directory)


def covered(built: Built, *runs: list[str]) -> tuple[set[int], int, Gathered]:
    gathered = Gathered(built.coverage)
    for arguments in runs:
        counters = built.program.with_name("counters")
        environment = {"ANABRANCH_COVERAGE": str(counters)}
        run_native(built.program, arguments=arguments, environment=environment)
        gathered.add_file(counters)
        os.unlink(counters)
    (file,) = gathered.coverage().files.values()
    return set(file.lines_covered), file.branches.covered, gathered


def test_all_lines_with_code_are_known(built: Built) -> None:
    (file,) = Gathered(built.coverage).coverage().files.values()
    assert set(file.lines_total) == {4, 6, 8, 9, 10, 12, 13, 15, 16, 17, 18, 19, 20, 21}
    assert file.lines_covered == () and file.branches.total == 2 + 4 + 2 + 2 + 2


def test_a_normal_run(built: Built) -> None:
    lines, sides, _ = covered(built, ["1"])
    assert lines == {4, 6, 8, 13, 15, 16, 17, 18, 19, 20, 21}
    assert sides == 4


def test_lines_behind_a_call_that_does_not_return_are_not_covered(built: Built) -> None:
    lines, _, _ = covered(built, ["3"])
    assert lines == {4, 6, 9, 13, 15, 16, 17, 18}


def test_what_a_signal_ends_counts(built: Built) -> None:
    lines, _, _ = covered(built, ["4"])
    assert lines == {4, 6, 12, 13, 15, 16, 17, 18, 19, 20}


def test_runs_add_up(built: Built) -> None:
    lines, sides, gathered = covered(built, ["1"], ["3"], ["4"], ["-7"], ["55"], ["70"], [])
    (file,) = gathered.coverage().files.values()
    assert lines == set(file.lines_total)
    assert sides == file.branches.total
    assert all(all(taken) for branches in file.branch_hits.values() for taken in branches)


def test_the_program_does_not_see_the_counters(built: Built, tmp_path: Path) -> None:
    (tmp_path / "env.c").write_text(
        "#include <stdio.h>\nextern char **environ;\nint main(void) {\n"
        "  for (char **e = environ; *e; e++) puts(*e);\n  return 0;\n}\n"
    )
    program = build_native(ProgramRecord(tmp_path, ((Path("env.c"), ""),)), tmp_path).program
    done = run_native(program, environment={"ANABRANCH_COVERAGE": str(tmp_path / "c"), "HOME": "/"})
    assert done.stdout == b"HOME=/\n"


def test_long_double_has_80_bits(tmp_path: Path) -> None:
    """Natively too; its mathematics is the portable C that the engine runs, not the library's assembly."""
    (tmp_path / "ld.c").write_text(
        "#include <float.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
        'int main(void) {\n  long double x = strtold("0.1", 0), y;\n  sscanf("2.5", "%Lf", &y);\n'
        '  printf("%d %Lg %.20Lf %Lg %La\\n", LDBL_MANT_DIG, y, x, floorl(y), expl(y - 0.5L));\n'
        "  return 0;\n}\n"
    )
    record = ProgramRecord(tmp_path, ((Path("ld.c"), ""),), libc="musl")
    done = run_native(build_native(record, tmp_path).program)
    assert done.stdout == b"64 2.5 0.10000000000000000000 2 0x1.d8e64b8d4ddadcc4p+2\n"


def test_products_and_quotients_of_long_double_complex_numbers(tmp_path: Path) -> None:
    """As C passes them: the compiler's own run-time library returns them in memory, and the program dies."""
    (tmp_path / "complex.c").write_text(
        "#include <complex.h>\n#include <math.h>\n#include <stdio.h>\n"
        "int main(void) {\n  volatile long double complex z = 3 + 4 * I, w = 1 + 2 * I;\n"
        "  long double complex a = z / w, b = z * CMPLXL(0, INFINITY);\n"
        '  printf("%Lg %Lg %Lg %Lg\\n", creall(a), cimagl(a), creall(b), cimagl(b));\n'
        "  return 0;\n}\n"
    )
    done = run_native(
        build_native(ProgramRecord(tmp_path, ((Path("complex.c"), ""),), libc="musl"), tmp_path).program
    )
    assert (done.code, done.stdout) == (0, b"2.2 -0.4 -inf inf\n")
