"""What is known of a function does not depend on what was checked before it."""

from __future__ import annotations

import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from anabranch.check.driver import Checker
from anabranch.check.records import FunctionRecord
from tests.check.generate import program
from tests.check.support import SUBJECTS, module_of

NAMES = ("flows", "freed", "idioms", "null", "values")


def plain(record: FunctionRecord) -> dict[str, Any]:
    """All but the time."""
    return {**asdict(record), "seconds": {}}


@pytest.fixture(params=(*NAMES, "generated"))
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param != "generated":
        return SUBJECTS / f"{request.param}.c"
    path = tmp_path / "generated.c"
    path.write_text(program(4711, loops=True))
    return path


def test_records_are_the_same_in_every_order(source: Path) -> None:
    module = module_of(source)
    first = Checker(module)
    first.run()
    rng = random.Random(source.name)
    for _ in range(2):
        other = Checker(module)
        left = set(other.order.names())
        while left:
            ready = sorted(n for n in left if left.isdisjoint(other.order.callees[n]))
            name = rng.choice(ready)
            assert plain(other.check(name)) == plain(first.records[name])
            left.remove(name)


def test_a_function_can_be_checked_alone(source: Path) -> None:
    """Gated forms of its callees are made again, with what the records say that they leave to it."""
    module = module_of(source)
    first = Checker(module)
    first.run()
    for name in first.order.names():
        other = Checker(module)
        other.records = dict(first.records)
        assert plain(other.check(name)) == plain(first.records[name])
