"""Which arguments of a call like `printf` are strings, by a constant format."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CONVERSION = re.compile(r"%(?:%|[-+ #0']*(\*|\d*)(?:\.(\*|\d*))?(?:hh|h|ll|l|L|q|j|z|t)?([A-Za-z]))")


def string_arguments(text: str) -> Iterator[int]:
    """The numbers of the arguments that `%s` takes, counted from 0 behind the format.

    Numbered arguments (`%1$s`) are not followed: the first of them ends the answer."""
    number = 0
    position = text.find("%")
    while position >= 0:
        found = _CONVERSION.match(text, position)
        if found is None:
            return
        number += (found[1] == "*") + (found[2] == "*")
        if found[3] is not None:
            if found[3] in "sS":
                yield number
            number += 1
        position = text.find("%", found.end())
