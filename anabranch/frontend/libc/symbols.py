"""What a module defines and what it needs, as a linker sees it; read off its text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NAME = r'@("(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)'
_GLOBAL = re.compile(rf"^{_NAME} = (.*)$")
_FUNCTION = re.compile(rf"^(define|declare) (.*?){_NAME}\(")
_WORD = re.compile(r"[a-z_]+(?:\([^)]*\))?")
_KINDS = frozenset(("global", "constant", "alias", "ifunc"))
_WEAK = frozenset(("weak", "weak_odr", "linkonce", "linkonce_odr"))
_LOCAL = frozenset(("internal", "private", "appending"))
_OURS = ("llvm.", "anabranch.", "__ubsan_handle_")


@dataclass(slots=True)
class Symbols:
    """Names a module has to do with; `defined` and `weak` do not overlap."""

    defined: set[str] = field(default_factory=set)
    weak: set[str] = field(default_factory=set)
    """Defined, but another definition may take their place."""
    undefined: set[str] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)
    """Undefined and allowed to stay so (extern_weak): used if there, not looked for."""

    @property
    def offered(self) -> set[str]:
        return self.defined | self.weak

    def to_json(self) -> list[list[str]]:
        return [sorted(self.defined), sorted(self.weak), sorted(self.undefined), sorted(self.wanted)]

    @classmethod
    def from_json(cls, lists: list[list[str]]) -> Symbols:
        return cls(*(set(names) for names in lists))


def read_symbols(text: str) -> Symbols:
    """The symbols of a module given as LLVM text."""
    symbols = Symbols()
    for line in text.split("\n"):
        if line.startswith("@"):
            match = _GLOBAL.match(line)
            if match:
                words = _leading_words(match[2])
                _place(symbols, match[1].strip('"'), words, "external" in words or "extern_weak" in words)
        elif line.startswith(("define ", "declare ")):
            match = _FUNCTION.match(line)
            if match:
                words = frozenset(match[2].split())
                _place(symbols, match[3].strip('"'), words, match[1] == "declare")
    return symbols


def _leading_words(rest: str) -> frozenset[str]:
    words = set()
    for match in _WORD.finditer(rest):
        if match[0] in _KINDS:
            break
        words.add(match[0])
    return frozenset(words)


def _place(symbols: Symbols, name: str, words: frozenset[str], declared: bool) -> None:
    if name.startswith(_OURS) or words & _LOCAL:
        return
    if declared or "available_externally" in words:
        (symbols.wanted if "extern_weak" in words else symbols.undefined).add(name)
    elif words & _WEAK:
        symbols.weak.add(name)
    else:
        symbols.defined.add(name)
