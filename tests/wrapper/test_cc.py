"""`anabranch cc` as builds call it: native results as usual, bitcode beside programs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.frontend import FrontendOptions, load_program
from anabranch.frontend.compile import clang_command
from anabranch.native.flags import BITCODE_FLAGS
from anabranch.wrapper.database import DatabaseError, link_database
from anabranch.wrapper.driver import run
from anabranch.wrapper.elf import read_section

MAIN = (
    '#include <stdio.h>\nint used(int);\nint main(int c, char **v) { printf("%d\\n", used(c)); return 0; }\n'
)
USED = "int deeper(int);\nint used(int x) { return deeper(x) + 1; }\n"
DEEPER = "int deeper(int x) { return 41 * x; }\n"
UNUSED = "int nowhere(void);\nint unused(void) { return nowhere(); }\n"

Run = Callable[..., int]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name, text in (("main.c", MAIN), ("used.c", USED), ("deeper.c", DEEPER), ("unused.c", UNUSED)):
        (tmp_path / name).write_text(text)
    return tmp_path


def functions(bitcode: Path) -> set[str]:
    return {
        f.name for f in load_program([bitcode], FrontendOptions(use_cache=False)).module.defined_functions()
    }


def output(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def test_the_flags_are_those_of_the_front_end() -> None:
    assert set(clang_command()[-6:]) <= set(BITCODE_FLAGS)


def test_a_program_from_sources(project: Path) -> None:
    assert run(["-O2", "-o", "prog", "main.c", "used.c", "deeper.c"]) == 0
    assert output(project / "prog") == "42\n"
    assert functions(project / "prog.bc") == {"main", "used", "deeper"}
    assert sorted(p.name for p in project.iterdir()) == [
        "deeper.c", "main.c", "prog", "prog.bc", "unused.c", "used.c",
    ]  # fmt: skip


@pytest.mark.skipif(shutil.which("ar") is None, reason="no ar on this machine")
def test_archive_members_are_pulled_on_demand(project: Path) -> None:
    assert run(["-c", "main.c", "used.c", "deeper.c", "unused.c"]) == 0
    assert read_section((project / "used.o").read_bytes())
    subprocess.run(["ar", "rcs", "libx.a", "unused.o", "used.o", "deeper.o"], check=True)
    assert run(["-o", "prog", "main.o", "-L.", "-lx", "-lm"]) == 0
    assert output(project / "prog") == "42\n"
    assert functions(project / "prog.bc") == {"main", "used", "deeper"}
    subprocess.run(["ar", "rcT", "libthin.a", "unused.o", "used.o", "deeper.o"], check=True)
    assert run(["-o", "thin", "main.o", "libthin.a"]) == 0
    assert functions(project / "thin.bc") == {"main", "used", "deeper"}


def test_shared_libraries(project: Path) -> None:
    assert run(["-shared", "-fPIC", "-o", "libx.so", "used.c", "deeper.c", "-Wl,-soname,libx.so.1"]) == 0
    assert run(["-o", "prog", "main.c", "-L.", "-lx", "-Wl,-rpath,/nowhere"]) == 0
    assert output(project / "prog") == "42\n"
    assert functions(project / "prog.bc") == {"main", "used", "deeper"}


def test_relocatable_objects(project: Path) -> None:
    assert run(["-c", "used.c", "deeper.c"]) == 0
    assert run(["-r", "-o", "both.o", "used.o", "deeper.o"]) == 0
    assert run(["main.c", "both.o"]) == 0
    assert output(project / "a.out") == "42\n"
    assert functions(project / "a.out.bc") == {"main", "used", "deeper"}


def test_assembly_has_no_bitcode_and_is_named(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "fast.s").write_text(".globl deeper\ndeeper:\n  imull $41, %edi, %eax\n  ret\n")
    assert run(["-o", "prog", "main.c", "used.c", "fast.s"]) == 0
    assert output(project / "prog") == "42\n"
    assert "fast.s" in capfd.readouterr().err
    assert functions(project / "prog.bc") == {"main", "used"}


def test_errors_are_clang_s(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "bad.c").write_text("int f(void) { return x; }\n")
    assert run(["-c", "bad.c"]) != 0
    assert capfd.readouterr().err.count("undeclared identifier") == 1
    assert run(["-o", "prog", "main.c"]) != 0
    assert "used" in capfd.readouterr().err
    assert run(["absent.c"]) != 0
    assert "absent.c" in capfd.readouterr().err
    assert run(["main.c", "-lnosuchlibrary"]) != 0
    assert not (project / "prog.bc").exists()


def test_dependencies_preprocessing_and_probes(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "h.h").write_text("#define N 3\n")
    (project / "conftest.c").write_text('#include "h.h"\nint main(void) { return N; }\n')
    assert run(["-c", "-MD", "-MF", "c.d", "conftest.c", "-o", "c.o"]) == 0
    assert "h.h" in (project / "c.d").read_text()
    assert read_section((project / "c.o").read_bytes()) == []
    assert run(["-o", "conftest", "conftest.c"]) == 0
    assert subprocess.run([project / "conftest"], check=False).returncode == 3
    assert not (project / "conftest.bc").exists()
    assert run(["-E", "conftest.c"]) == 0
    assert "return 3" in capfd.readouterr().out


def test_source_on_standard_input(project: Path) -> None:
    command = [sys.executable, "-m", "anabranch", "cc", "-x", "c", "-", "-o", "prog"]
    subprocess.run(command, input=b"int main(void) { return 7; }", check=True)
    assert subprocess.run([project / "prog"], check=False).returncode == 7
    assert functions(project / "prog.bc") == {"main"}


def test_compile_commands(project: Path) -> None:
    (project / "main.c").write_text("#ifdef WANTED\n" + MAIN + "#endif\n")
    entries = [
        {"directory": ".", "file": "main.c", "arguments": ["gcc", "-O2", "-DWANTED", "-c", "main.c"]},
        {"directory": str(project), "file": "used.c", "command": "ccache gcc -c used.c -o used.o"},
        {"directory": str(project), "file": "deeper.c", "command": "gcc -c deeper.c"},
        {"directory": str(project), "file": "unused.c", "command": "gcc -c unused.c"},
        {"directory": str(project), "file": "broken.c", "command": "gcc -c broken.c"},
    ]
    file = project / "compile_commands.json"
    file.write_text(json.dumps(entries))
    whole, warnings = link_database(file, [Path("main.c")], project)
    assert functions(whole) == {"main", "used", "deeper"}
    assert len(warnings) == 1 and "broken.c" in warnings[0]
    with pytest.raises(DatabaseError, match="no entry for"):
        link_database(file, [Path("other.c")], project)
    file.write_text("{}")
    with pytest.raises(DatabaseError, match="not a list"):
        link_database(file, [Path("main.c")], project)


def test_long_double_computes_as_in_the_engine(project: Path) -> None:
    """80 bits, its mathematics in musl's portable C, whose last bit is not that of the library's assembly."""
    (project / "long.c").write_text(
        "#include <complex.h>\n#include <float.h>\n#include <math.h>\n#include <stdio.h>\nint main(void) {\n"
        "  volatile long double y = 2;\n  volatile long double complex z = 3 + 4 * I, w = 1 + 2 * I;\n"
        '  printf("%d %La %Lg\\n", LDBL_MANT_DIG, expl(y), cimagl(z / w));\n  return 0;\n}\n'
    )
    assert run(["-O2", "-o", "long", "long.c", "-lm"]) == 0
    assert output(project / "long") == "64 0x1.d8e64b8d4ddadcc4p+2 -0.4\n"
