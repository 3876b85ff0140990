"""The cache: hits, changes noticed, damage survived."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch.frontend import Program
from anabranch.frontend import compile as compile_module

Load = Callable[..., Program]
Write = Callable[[str, "str | bytes"], Path]


@pytest.fixture
def source(write: Write) -> Path:
    write("h.h", "#define VALUE 3\n")
    return write("m.c", '#include <stddef.h>\n#include "h.h"\nint main(void) { return VALUE; }\n')


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "programs").iterdir())


def test_hit_and_changed_header(load: Load, source: Path, write: Write, tmp_path: Path) -> None:
    first = load(source, cache=True)
    assert not first.from_cache
    second = load(source, cache=True)
    assert second.from_cache
    assert second.ir_text == first.ir_text
    assert len(entries(tmp_path)) == 1
    write("h.h", "#define VALUE 4\n")
    third = load(source, cache=True)
    assert not third.from_cache
    assert "ret i32 4" in third.ir_text


def test_flags_are_part_of_the_request(load: Load, source: Path, tmp_path: Path) -> None:
    load(source, cache=True)
    assert not load(source, cache=True, opt_level=0).from_cache
    assert not load(source, cache=True, defines=("X",)).from_cache
    assert len(entries(tmp_path)) == 3


def test_damaged_entry_is_replaced(load: Load, source: Path, tmp_path: Path) -> None:
    good = load(source, cache=True)
    (entry,) = entries(tmp_path)
    data = entry.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes((data[middle] ^ 1,)) + data[middle + 1 :]
    for broken in (flipped, data[:middle], b"", b'{"body": 3}\n', b"[1]\n"):
        entry.write_bytes(broken)
        again = load(source, cache=True)
        assert not again.from_cache
        assert again.ir_text == good.ir_text
        assert entry.read_bytes() == data


def test_unwritable_cache_is_no_error(load: Load, source: Path, write: Write) -> None:
    write("cache", "a file where the directory would be")
    assert load(source, cache=True).entry == "main"


def test_warnings_come_back_on_a_hit(load: Load, write: Write) -> None:
    path = write("w.c", "int main(void) { int unused; return 0; }")
    first = load(path, cache=True, cflags=("-Wunused-variable",))
    second = load(path, cache=True, cflags=("-Wunused-variable",))
    assert second.from_cache
    assert "unused variable" in second.warnings
    assert second.warnings == first.warnings


def test_a_hit_loads_no_llvm(load: Load, source: Path, tmp_path: Path) -> None:
    load(source, cache=True)
    script = f"""
import sys
from pathlib import Path
from typing import Any
from anabranch.frontend import FrontendOptions, load_program
p = load_program([Path({str(source)!r})], FrontendOptions(cache_dir=Path({str(tmp_path / "cache")!r})))
assert p.from_cache
print([name for name in sys.modules if name in ("llvmlite", "ziglang", "subprocess")])
"""
    root = Path(__file__).resolve().parent.parent.parent
    result = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        check=False,
    )
    assert result.stdout.strip() == "[]", result.stderr


def test_only_what_has_changed_is_compiled_again(
    load: Load, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files, one type: what is kept of one does not depend on whether the other was read before."""
    write("t.h", "struct pair { int a, b; };\n")
    first = write(
        "a.c",
        '#include "t.h"\nint f(struct pair *p);\nint main(void) { struct pair p = {1, 2}; return f(&p); }',
    )
    second = write("b.c", '#include "t.h"\nint f(struct pair *p) { return p->a; }\n')
    compiled: list[Path] = []
    compile_c = compile_module.compile_c

    def noted(source: Path, *rest: Any) -> compile_module.Compiled:
        compiled.append(source)
        return compile_c(source, *rest)

    monkeypatch.setattr(compile_module, "compile_c", noted)
    load(first, second, cache=True)
    assert sorted(compiled) == [first, second]
    compiled.clear()
    write("b.c", '#include "t.h"\nint f(struct pair *p) { return p->b; }\n')
    after = load(first, second, cache=True)
    assert compiled == [second]
    assert after.ir_text == load(first, second).ir_text
    compiled.clear()
    write("t.h", "struct pair { int a, b, c; };\n")
    assert load(first, second, cache=True).ir_text == load(first, second).ir_text
    assert sorted(compiled) == sorted([first, second] * 2)


def test_a_damaged_unit_is_made_again(load: Load, source: Path, write: Write, tmp_path: Path) -> None:
    good = load(source, cache=True)
    (unit,) = (tmp_path / "cache" / "units").iterdir()
    unit.write_bytes(unit.read_bytes()[:-3])
    (entry,) = entries(tmp_path)
    entry.unlink()
    assert load(source, cache=True).ir_text == good.ir_text
