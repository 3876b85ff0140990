"""Things that a user chooses by name: each is registered by a decorator, built-in or from a plugin."""

from __future__ import annotations

from typing import Generic, TypeVar

from anabranch.values import unknown_name

T = TypeVar("T")


class Registry(Generic[T]):
    """Name -> thing of one kind.

    Whoever lists the names asks when they are needed, not when a module is imported: plugins register theirs
    before the command line is parsed.
    """

    __slots__ = ("_entries", "kind")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        """What the things are called in messages."""
        self._entries: dict[str, tuple[T, str]] = {}

    def add(self, name: str, thing: T, help: str) -> None:
        """Register a thing; `help` is a few words for the command line."""
        if name in self._entries:
            raise ValueError(f"two {self.kind}s are called {name}")
        self._entries[name] = (thing, help)

    def remove(self, name: str) -> None:
        """Forget a name again."""
        del self._entries[name]

    def names(self) -> tuple[str, ...]:
        """All names, sorted: the order in which modules were imported does not matter."""
        return tuple(sorted(self._entries))

    def help(self) -> str:
        """All names with their explanations, in a line."""
        return "; ".join(f"{name} ({self._entries[name][1]})" for name in self.names())

    def find(self, name: str) -> T:
        """The thing of that name; ValueError with a line for the user if there is none."""
        if name not in self._entries:
            raise ValueError(f"{self.kind} {unknown_name(name, self.names())}")
        return self._entries[name][0]
