"""Plain tables on standard output."""

from __future__ import annotations

from collections.abc import Sequence


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns as wide as they need; numbers to the right."""
    texts = [[_text(cell) for cell in row] for row in rows]
    widths = [max([len(h), *(len(r[i]) for r in texts)]) for i, h in enumerate(header)]
    right = [bool(rows) and all(isinstance(r[i], int | float) for r in rows) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        parts = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True)]
        return "  ".join(parts).rstrip()

    print(line(list(header)))
    print(line(["-" * w for w in widths]))
    for cells in texts:
        print(line(cells))


def _text(cell: object) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.3f}" if abs(cell) < 10 else f"{cell:.1f}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return str(cell)


def magnitude(number: int) -> str:
    """Two digits and a power of ten, of numbers of any size."""
    digits = str(number)
    return digits if len(digits) <= 4 else f"{digits[0]}.{digits[1]}e{len(digits) - 1}"
