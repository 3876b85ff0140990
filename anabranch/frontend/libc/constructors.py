"""Functions that run before `main` and after it, called by name from the library's start-up.

A module lists them in `llvm.global_ctors` and `llvm.global_dtors`; a linker would make tables of them. Here
the two functions that start-up declares get a body with one call each.
"""

from __future__ import annotations

import re

_NAME = r'@(?:"(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)'
_ENTRY = re.compile(rf"\{{ i32 (\d+), ptr ({_NAME}), ptr [^}}]*\}}")
BEFORE = "__anabranch_constructors"
AFTER = "__anabranch_destructors"


def call_constructors(text: str) -> str:
    """The text of a module with bodies for the two functions, if it declares them."""
    text = _define(text, BEFORE, _listed(text, "llvm.global_ctors"))
    return _define(text, AFTER, _listed(text, "llvm.global_dtors")[::-1])


def _listed(text: str, table: str) -> list[str]:
    """Functions of a table, by priority."""
    match = re.search(rf"^@{re.escape(table)} = appending global (.*)$", text, re.MULTILINE)
    if match is None:
        return []
    entries = [(int(priority), name) for priority, name in _ENTRY.findall(match[1])]
    return [name for _, name in sorted(entries, key=lambda entry: entry[0])]


def _define(text: str, name: str, functions: list[str]) -> str:
    declaration = re.compile(rf"^declare [^\n]*@{name}\(\)[^\n]*$", re.MULTILINE)
    calls = "".join(f"  call void {function}()\n" for function in functions)
    body = f"define void @{name}() {{\n{calls}  ret void\n}}"
    return declaration.sub(lambda _: body, text, count=1)
