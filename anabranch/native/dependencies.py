"""Files that a compile has read, as clang tells them in a Makefile rule."""

from __future__ import annotations

import re

_DEPENDENCY = re.compile(r"(?:\\[ #\\]|\$\$|[^\s\\]|\\(?=[^ #\\\s]))+")


def parse_depfile(text: str) -> list[str]:
    """The prerequisites in a Makefile rule as clang writes it."""
    _, _, rest = text.replace("\\\r\n", " ").replace("\\\n", " ").partition(":")
    return [re.sub(r"\\([ #\\])", r"\1", name).replace("$$", "$") for name in _DEPENDENCY.findall(rest)]
