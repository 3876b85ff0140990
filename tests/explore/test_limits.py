from __future__ import annotations

from dataclasses import dataclass

import pytest

from anabranch.explore import limits as limits_module
from anabranch.explore.limits import MEGABYTE, Limits, Losses, least_promising
from anabranch.explore.settings import LimitSettings
from anabranch.explore.tree import ExecutionTree
from anabranch.process_memory import release_memory, resident_bytes
from tests.explore.fakes import spine


@dataclass
class Used:
    instructions: int = 0
    tests: int = 0
    waiting: int = 0


@pytest.mark.parametrize("what", ["instructions", "tests"])
def test_counts_stop_at_the_limit(what: str) -> None:
    limits = Limits(LimitSettings(instructions=10) if what == "instructions" else LimitSettings(tests=10))
    assert limits.check(Used(**{what: 9})) is None
    assert limits.check(Used(**{what: 10})) == f"max-{what}"


def test_time_stops_at_the_limit() -> None:
    now = [100.0]
    limits = Limits(LimitSettings(time=2.5), clock=lambda: now[0])
    now[0] = 102.4
    assert limits.check(Used()) is None
    now[0] = 102.5
    assert limits.check(Used()) == "max-time"
    assert limits.seconds == 2.5


def test_no_limits_never_stop() -> None:
    limits = Limits(LimitSettings(), memory=lambda: 1000)
    assert limits.check(Used(10**12, 10**12)) is None


def test_memory_ends_states_before_it_ends_the_run() -> None:
    used = [900]
    limits = Limits(LimitSettings(memory=1000), memory=lambda: MEGABYTE * used[0])
    assert limits.states_to_end(100) == 0
    used[0] = 1250
    assert limits.states_to_end(100) == 20
    assert limits.states_to_end(80) == 0, "what was freed is used again first"
    assert limits.check(Used()) is None
    used[0] = 1280
    assert limits.states_to_end(80) == 17
    used[0] = 1501
    assert limits.check(Used()) == "max-memory"


def test_memory_ends_at_least_a_tenth() -> None:
    used = [1001]
    limits = Limits(LimitSettings(memory=1000), memory=lambda: MEGABYTE * used[0])
    assert limits.states_to_end(100) == 10
    used[0] = 1100
    assert limits.states_to_end(1) == 1


def test_what_is_free_is_given_back_before_the_run_ends() -> None:
    used = [1600]

    def release() -> None:
        used[0] = min(used[0], 1400)

    limits = Limits(LimitSettings(memory=1000), memory=lambda: MEGABYTE * used[0], release=release)
    assert limits.check(Used()) is None
    assert limits.short_of_memory()
    used[0] = 990
    assert limits.short_of_memory(), "caches would be dropped again and again"
    used[0] = 890
    assert not limits.short_of_memory()


def test_memory_is_given_back() -> None:
    blocks = [bytes(1000) for _ in range(300_000)]
    del blocks[:-1]  # the last one keeps the C library from giving back the others by itself
    before = resident_bytes()
    release_memory()
    assert resident_bytes() < before - 200_000_000


def test_order_of_states_given_up() -> None:
    states = spine(ExecutionTree(), 6)
    names = ["new", "never", "never-deeper", "recent", "long-ago", "never-deeper-later"]
    for state, name in zip(states, names, strict=True):
        state.name = name
    states[0].covered_new = True
    states[3].instructions_since_new = 10
    states[4].instructions_since_new = 10_000
    states[2].depth = states[5].depth = 50
    expected = ["never-deeper-later", "never-deeper", "never", "long-ago", "recent", "new"]
    assert [state.name for state in least_promising(states, 6)] == expected
    assert [state.name for state in least_promising(states, 2)] == expected[:2]


def test_resident_memory_is_plausible(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resident_bytes()
    assert 1 << 20 < before < 1 << 36
    block = bytearray(b"x" * (64 << 20))
    assert resident_bytes() - before > 32 << 20
    assert len(block)

    def absent(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(limits_module, "open", absent, raising=False)
    assert 1 << 20 < resident_bytes() < 1 << 36


def test_losses_count_by_kind_and_place() -> None:
    losses = Losses()
    assert not losses and losses.total == 0
    losses.add("solver", "b.c:3")
    losses.add("solver", "a.c:9", 2)
    losses.add("solver", "b.c:3")
    losses.add("max-depth", "a.c:1")
    assert losses and losses.total == 5
    assert losses.as_dict() == {"max-depth": {"a.c:1": 1}, "solver": {"a.c:9": 2, "b.c:3": 2}}
    assert list(losses.as_dict()) == ["max-depth", "solver"]
