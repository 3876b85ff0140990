"""Which members of the library a program needs: those a linker would take out of an archive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anabranch.frontend.libc.symbols import Symbols


def by_symbol(library: Mapping[str, Symbols]) -> dict[str, str]:
    """Symbol -> the first member that defines it, weakly or not, as the index of an archive has it."""
    index: dict[str, str] = {}
    for name, symbols in library.items():
        for symbol in sorted(symbols.offered):
            index.setdefault(symbol, name)
    return index


def select_members(
    program: Iterable[Symbols],
    library: Mapping[str, Symbols],
    modelled: frozenset[str],
    roots: Iterable[str] = (),
) -> list[str]:
    """Names of the members to link, in the order in which they are found to be needed.

    A member is taken for a symbol that is needed and that nobody defines yet, a weak definition being one
    like any other. What is wanted only weakly takes nothing, and neither does what the engine models.
    """
    defined: set[str] = set()
    needed: list[str] = list(roots)
    for symbols in program:
        defined |= symbols.offered
        needed += sorted(symbols.undefined)
    index = by_symbol(library)
    taken: dict[str, None] = {}
    position = 0
    while position < len(needed):
        symbol = needed[position]
        position += 1
        if symbol in defined or symbol in modelled:
            continue
        member = index.get(symbol)
        if member is None or member in taken:
            continue
        taken[member] = None
        defined |= library[member].offered
        needed += sorted(library[member].undefined)
    return list(taken)
