"""Keeps tests apart that share one process."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import HealthCheck, settings

from anabranch.expr import node

# Machines under load are slow, which is no failure of what is tested.
settings.register_profile("loaded", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loaded")


class Expressions:
    """The expressions that test modules made when they were imported.

    An exploration numbers variables from the start again; tests that hold expressions of their own get
    the table back in which these are interned.
    """

    def __init__(self) -> None:
        self.nodes = dict(node.NODES)
        self.variables = list(node.VARIABLES)
        self.undefined = dict(node._UNDEFINED)
        self.after = max((n.id for n in self.nodes.values()), default=0) + 1

    def lost(self) -> bool:
        return any(node.NODES.get(key) is not n for key, n in self.nodes.items() if n.op == node.VAR)

    def restore(self) -> None:
        node.NODES.clear()
        node.NODES.update(self.nodes)
        node.VARIABLES[:] = self.variables
        node._UNDEFINED.clear()
        node._UNDEFINED.update(self.undefined)
        node._next_id = count(self.after).__next__
        node._structural = False
        node.forget_memos()


_imported: Expressions | None = None


def pytest_collection_finish() -> None:
    global _imported
    _imported = Expressions()


@pytest.fixture(autouse=True)
def own_expressions(request: pytest.FixtureRequest) -> None:
    """Give tests of expressions, solvers and forms the table their modules were imported with, and others
    that say so by `HOLDS_EXPRESSIONS`."""
    holding = request.path.parent.name in ("expr", "solver", "zequivalence")
    holds = holding or hasattr(request.module, "HOLDS_EXPRESSIONS")
    if holds and _imported is not None and _imported.lost():
        _imported.restore()
