from __future__ import annotations

from types import SimpleNamespace

import pytest

from anabranch.explore import engine


@pytest.fixture(autouse=True)
def without_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full collection at the start of each of these many small runs would take most of their time."""
    names = ("collect", "freeze", "unfreeze", "enable", "disable")
    monkeypatch.setattr(engine, "gc", SimpleNamespace(**{name: lambda: None for name in names}))
