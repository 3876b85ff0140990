"""Programs on objects of unknown size: the errors that their comments tell, and no others."""

from __future__ import annotations

import pytest

from bench.sizes import SUBJECTS, WAYS, expected_errors, explore

NAMES = sorted(path.stem for path in SUBJECTS.glob("*.c"))


def test_there_are_thirty_shapes() -> None:
    assert len(NAMES) >= 30
    assert sum(bool(expected_errors(SUBJECTS / f"{name}.c")) for name in NAMES) >= 15


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_those_of_the_comments(name: str, way: str) -> None:
    _, problems = explore(SUBJECTS / f"{name}.c", 8, WAYS[way], replay=False)
    assert problems == []
