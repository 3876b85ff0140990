"""Definitions of the library that give way to the program's own."""

from __future__ import annotations

import re
from collections.abc import Iterable


def give_way(text: str, names: Iterable[str]) -> str:
    """The text of a module in which the definitions of `names` are weak.

    LLVM then takes the definition of another module, where it would refuse two strong ones.
    """
    for name in names:
        symbol = f"@{re.escape(name)}"
        text = re.sub(rf"^({symbol} = )(?:common )?", r"\1weak ", text, count=1, flags=re.MULTILINE)
        text = re.sub(rf"^define (?=[^\n]*{symbol}\()", "define weak ", text, count=1, flags=re.MULTILINE)
    return text
