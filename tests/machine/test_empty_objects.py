"""Accesses to objects of no bytes are told as what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine.harness import run_source

HEAD = "#include <stdlib.h>\n#include <string.h>\n"


@pytest.mark.parametrize(
    ("statement", "access"),
    [
        ('strcpy(p, "");', "write of 1 byte"),
        ("memset(p, 0, 1);", "write of 1 byte"),
        ("return (int)strlen(p);", "read of 1 byte"),
    ],
)
def test_the_access_that_fails(tmp_path: Path, statement: str, access: str) -> None:
    source = f"{HEAD}int main(void) {{ char *p = malloc(0); {statement} return 0; }}"
    (error,) = run_source(tmp_path, source).collector.errors
    assert error.kind == "out-of-bounds"
    assert f"access: {access}" in error.info
