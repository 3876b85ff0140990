"""The places that checks watch, and which of them were reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine.harness import run_source

HEAD = "#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n#include <klee/klee.h>\n"
CASES: dict[str, tuple[str, dict[str, tuple[int, int]]]] = {
    "divisions that can fail": (
        "int main(void) { int x = klee_int(\"x\"); if (x > 9) x %= 7; if (x < 3 && x > 5) return 5 / x;"
        " return x ? 9 / x : 0; }",
        {"division": (1, 2), "shift-exponent": (0, 0), "uninitialised": (4, 4)},
    ),
    "shifts that can fail": (
        "int main(void) { unsigned x = klee_int(\"x\"); return x << 3 == 8 ? 1 >> (x & 7) : 2; }",
        {"shift-exponent": (1, 1), "division": (0, 0)},
    ),
    "an assertion that holds is reached": (
        "int main(void) { int x = klee_int(\"x\"); assert(x < 5 || x > 4); if (x > 5 && x < 4) assert(x);"
        " return 0; }",
        {"assertions": (1, 2)},
    ),
    "accesses": (
        "char buffer[8]; int main(void) { int i = klee_int(\"i\") & 7; buffer[i] = 1;"
        " if (i > 9) memset(buffer, 0, 4); return buffer[i]; }",
        {"memory": (3, 4)},
    ),
    "behind an error": (
        "int main(void) { int *p = 0; *p = 1; return 7 / *p; }",
        {"division": (0, 1), "memory": (1, 2)},
    ),
    "calls through pointers": (
        "int f(int x) { return x; } int (*volatile p)(int) = f; int main(void) { return p(3); }",
        {"control": (1, 1), "stack": (1, 1)},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_places(tmp_path: Path, source: str, expected: dict[str, tuple[int, int]]) -> None:
    outcome = run_source(tmp_path, HEAD + source)
    found = {check.name: (check.reached, check.total) for check in outcome.result.checks}
    assert {name: found[name] for name in expected} == expected


def test_only_the_checks_made_are_named(tmp_path: Path) -> None:
    source = "int main(int argc, char **argv) { return argc + 1; }"
    usual = {check.name for check in run_source(tmp_path, source).result.checks}
    assert "memory" in usual
    assert not usual & {"memcleanup", "overflow"}
    more = run_source(tmp_path, source, "--check", "memcleanup", "--check", "overflow").result.checks
    assert {check.name for check in more} == usual | {"memcleanup", "overflow"}
    leak = next(check for check in more if check.name == "memcleanup")
    assert (leak.kinds, leak.reached, leak.total) == (("never-freed",), 1, 1)
