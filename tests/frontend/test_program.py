"""Programs loaded from C, bitcode and text."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.frontend import FrontendError, Program
from anabranch.frontend.compile import clang_command, run_clang
from anabranch.native.dependencies import parse_depfile

Load = Callable[..., Program]
Write = Callable[[str, "str | bytes"], Path]

LL = """
target triple = "x86_64-pc-linux-gnu"
define i32 @helper(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}
"""


def test_c_program_with_headers_defines_and_klee(load: Load, write: Write) -> None:
    write("inc/my.h", "#define BASE 40\n")
    source = write(
        "m.c",
        """#include <klee/klee.h>
#include <stdio.h>
#include <my.h>
int main(void) { int x; klee_make_symbolic(&x, sizeof x, "x"); klee_assert(x != 3); return BASE + ADD; }
""",
    )
    program = load(source, include_dirs=(source.parent / "inc",), defines=("ADD=2",))
    assert program.entry == "main"
    assert program.sources == (source,)
    assert "ret i32 42" in program.ir_text
    assert program.module.functions["klee_assert_fail"].noreturn
    place = program.module.functions["main"].blocks[0].instructions[-1].loc
    assert place is not None
    assert place.file == str(source)


def test_mixed_inputs_are_linked(load: Load, write: Write, tmp_path: Path) -> None:
    main = write("m.c", "int helper(int); int other(void); int main(void) { return helper(1) + other(); }")
    text = write("h.ll", LL)
    other = write("o.c", "int other(void) { return 5; }")
    bitcode = tmp_path / "o.bc"
    assert run_clang([*clang_command(), "-o", str(bitcode), str(other)]).returncode == 0
    program = load(main, text, bitcode)
    defined = {f.name for f in program.module.defined_functions()}
    assert defined == {"main", "helper", "other"}
    assert program.sources == (main,)


def test_levels(load: Load, write: Write) -> None:
    source = write(
        "m.c", "int main(int c, char **v) { int r = 0; if (c > 3 || c < -5) r = 1; return r && c ? c : r; }"
    )
    by_level = [load(source, opt_level=level).module.functions["main"] for level in (0, 1, 2)]
    opcodes = [{i.opcode for b in f.blocks for i in b.instructions} for f in by_level]
    assert "alloca" in opcodes[0]
    assert "alloca" not in opcodes[1]
    shapes = [[b.instructions[-1].targets for b in f.blocks] for f in by_level]
    assert shapes[0] == shapes[1] == shapes[2]


def test_uninitialised_local_survives_promotion(load: Load, write: Write) -> None:
    source = write(
        "m.c",
        "int main(int c, char **v) { int x, y, z = 1; if (c > 2) x = 3; y = c; if (x) z = y; return z; }",
    )
    function = load(source).module.functions["main"]
    calls = [i for b in function.blocks for i in b.instructions if i.opcode == "call"]
    assert [repr(i.operands[0]) for i in calls] == ["@anabranch.undef.i32"]
    assert calls[0].loc is not None
    phis = [i for b in function.blocks for i in b.instructions if calls[0].result in i.operands]
    assert [i.opcode for i in phis] == ["phi"]


def test_entry(load: Load, write: Write) -> None:
    fuzz = write("z.c", "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return 0; }")
    assert load(fuzz).entry == "LLVMFuzzerTestOneInput"
    two = write("t.c", "int f(void) { return 0; } int main(void) { return 0; }")
    assert load(two, entry="f").entry == "f"
    with pytest.raises(FrontendError, match=r"t\.c: no function 'g'; --entry can name one of: f, main"):
        load(two, entry="g")
    with pytest.raises(FrontendError, match="no function 'main'; --entry can name one of: only"):
        load(write("o.c", "int only(void) { return 0; }"))
    with pytest.raises(FrontendError, match="defines no function"):
        load(write("e.c", ""))


def test_clang_errors_are_clangs_own(load: Load, write: Write) -> None:
    source = write("bad.c", "int main(void) { return undeclared_thing; }\n")
    with pytest.raises(FrontendError) as caught:
        load(source)
    message = str(caught.value)
    assert f"{source}:1:25: error: use of undeclared identifier 'undeclared_thing'" in message
    assert "1 error generated." in message
    with pytest.raises(FrontendError, match=r"'absent\.h' file not found"):
        load(write("h.c", "#include <absent.h>\n"))


def test_warnings_are_kept(load: Load, write: Write) -> None:
    program = load(
        write("w.c", "int main(void) { int *p = 5; return !p; }"), cflags=("-Wno-error=int-conversion",)
    )
    assert "warning: incompatible integer to pointer" in program.warnings


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("absent.c", None, "no such file"),
        ("dir.c/inner", "", "is a directory"),
        ("x.txt", "int main;", "unknown kind of file"),
        ("x.cpp", "", "C++ is not supported"),
    ],
)
def test_wrong_files(
    load: Load, write: Write, tmp_path: Path, name: str, content: str | None, expected: str
) -> None:
    path = write(name, content) if content is not None else tmp_path / name
    with pytest.raises(FrontendError) as caught:
        load(tmp_path / "dir.c" if "inner" in name else path)
    assert expected in str(caught.value)


def test_no_input(load: Load) -> None:
    with pytest.raises(FrontendError, match="no input files"):
        load()


BAD_MODULES: dict[str, tuple[str, str | bytes, str]] = {
    "empty bitcode": ("x.bc", b"", "the file is empty"),
    "no bitcode": ("x.bc", b"\x7fELF\x02\x01\x80\x80", "neither LLVM bitcode nor text"),
    "garbage after magic": ("x.bc", b"BC\xc0\xde" + bytes(range(200)), "x.bc: "),
    "mutated text": (
        "x.ll",
        LL.replace("add i32 %x", "add i32 %zz"),
        "line 4, column 16: use of undefined value '%zz'",
    ),
    "wrong architecture": (
        "x.ll",
        'target triple = "aarch64-linux-gnu"\n',
        "only x86_64 programs can be run",
    ),
    "wrong layout": ("x.ll", 'target datalayout = "e-m:e-p:32:32"\n', "data layout"),
    "big endian": ("x.ll", 'target datalayout = "E-m:e-i64:64"\n', "data layout"),
    "invalid": (
        "x.ll",
        "define i32 @main() {\n  %a = add i32 %b, 1\n  %b = add i32 1, 1\n  ret i32 %a\n}\n",
        "invalid LLVM IR: ",
    ),
}


@pytest.mark.parametrize("case", BAD_MODULES)
def test_bad_modules(load: Load, write: Write, case: str) -> None:
    name, content, expected = BAD_MODULES[case]
    with pytest.raises(FrontendError) as caught:
        load(write(name, content))
    message = str(caught.value)
    assert expected in message
    assert "\n" not in message
    assert "x." in message


def test_truncated_bitcode(load: Load, write: Write, tmp_path: Path) -> None:
    source = write("m.c", "int main(void) { return 0; }")
    whole = tmp_path / "m.bc"
    assert run_clang([*clang_command(), "-o", str(whole), str(source)]).returncode == 0
    data = whole.read_bytes()
    for part in (len(data) // 2, len(data) - 8):
        with pytest.raises(FrontendError) as caught:
            load(write("cut.bc", data[:part]))
        assert "cut.bc" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_twice_defined(load: Load, write: Write) -> None:
    a = write("a.c", "int f(void) { return 1; } int main(void) { return f(); }")
    b = write("b.c", "int f(void) { return 2; }")
    with pytest.raises(FrontendError, match=r"cannot link: .*'f'.*multiply defined"):
        load(a, b)


def test_a_crash_of_llvm_is_an_error(load: Load, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", shutil.which("false"))
    with pytest.raises(FrontendError, match=r"LLVM crashed on this input \(code 1\)"):
        load(write("m.c", "int main(void) { return 0; }"))


def test_depfile() -> None:
    text = "x: a.c dir\\ with\\ space/b.h \\\n  c$$.h \\\n  d\\#e.h\n"
    assert parse_depfile(text) == ["a.c", "dir with space/b.h", "c$.h", "d#e.h"]
