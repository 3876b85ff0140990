from __future__ import annotations

from anabranch.explore.protocols import EXACT, GOALS, Merge, NoMerge, NoPrune, Prune
from anabranch.explore.tree import ExecutionTree
from tests.explore.fakes import FakeState


def test_null_operators_change_nothing_and_promise_everything() -> None:
    merge: Merge[FakeState] = NoMerge()
    prune: Prune[FakeState] = NoPrune()
    state = FakeState(ExecutionTree().start())
    assert merge.join(state) is state
    assert not prune.covers(state)
    assert merge.contract == prune.contract == EXACT
    assert EXACT.serves == GOALS
