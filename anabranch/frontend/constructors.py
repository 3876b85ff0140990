"""Functions that run before the entry function and after the program's end, called by name.

A module lists them in `llvm.global_ctors` and `llvm.global_dtors`, or puts pointers to them into sections
that a linker makes tables of. The C library's start-up declares two functions that call them all; a program
without a C library gets a start-up of its own if it lists any. Both functions get a body with one call each.
"""

from __future__ import annotations

import re
from typing import Any

import llvmlite.binding as llvm

from anabranch.frontend.libc.models import OTHER_START, STARTS
from anabranch.frontend.options import ENTRY_POINTS

_NAME = r'@(?:"(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)'
_ENTRY = re.compile(rf"\{{ i32 (\d+), ptr ({_NAME}), ptr [^}}]*\}}")
_SECTION = r'^{name} = [^\n]*?\bglobal (?:ptr|\[\d+ x ptr\]) ([^\n]*), section "\.{section}(?:\.(\d+))?"'
LAST = 65535
"""The priority of what has none."""
BEFORE = "__anabranch_constructors"
AFTER = "__anabranch_destructors"
AT_EXIT = "__anabranch_at_exit"
"""A model of the engine: `atexit`, whatever function of that name the program has."""


def call_constructors(text: str) -> str:
    """The text of a module with bodies for the two functions, if it declares them."""
    text = _define(text, BEFORE, _before(text))
    return _define(text, AFTER, _after(text))


def _before(text: str) -> list[str]:
    early = [name for _, name in _in_section(text, "preinit_array")]
    return early + _by_priority(_listed(text, "llvm.global_ctors") + _in_section(text, "init_array"))


def _after(text: str) -> list[str]:
    return _by_priority(_listed(text, "llvm.global_dtors") + _in_section(text, "fini_array"))[::-1]


def _by_priority(entries: list[tuple[int, str]]) -> list[str]:
    return [name for _, name in sorted(entries, key=lambda entry: entry[0])]


def _listed(text: str, table: str) -> list[tuple[int, str]]:
    """Functions of a table, with their priorities."""
    head = f"@{table} = appending global "
    start = 0 if text.startswith(head) else text.find(f"\n{head}") + 1
    if not text.startswith(head, start):
        return []
    line = text[start : text.index("\n", start)]
    return [(int(priority), name) for priority, name in _ENTRY.findall(line)]


def _in_section(text: str, section: str) -> list[tuple[int, str]]:
    """Functions that variables in a section point to, with the priorities that the section's name tells."""
    if f'section ".{section}' not in text:  # which is found a hundred times faster
        return []
    pattern = re.compile(_SECTION.format(name=_NAME, section=section), re.MULTILINE)
    return [
        (int(priority or LAST), name)
        for value, priority in pattern.findall(text)
        for name in re.findall(_NAME, value)
    ]


def _define(text: str, name: str, functions: list[str]) -> str:
    if f"@{name}()" not in text:
        return text
    declaration = re.compile(rf"^declare [^\n]*@{name}\(\)[^\n]*$", re.MULTILINE)
    calls = "".join(f"  call void {function}()\n" for function in functions)
    body = f"define void @{name}() {{\n{calls}  ret void\n}}"
    return declaration.sub(lambda _: body, text, count=1)


def add_start(module: Any, wanted: str | None) -> None:
    """Link a start-up into a module: constructors, then the entry function with the arguments given.

    Nothing is added if there is neither a constructor nor a destructor. Destructors are registered first of
    all, so that they run after every handler of `atexit`, and also if a constructor ends the program.
    """
    defined = {function.name: function for function in module.functions if not function.is_declaration}
    entry = next((name for name in ((wanted,) if wanted else ENTRY_POINTS) if name in defined), None)
    text = str(module)
    if entry is None or not (_before(text) or _after(text)):
        return
    function, start = defined[entry], STARTS.get(entry, OTHER_START)
    result = str(function.global_value_type).partition(" (")[0]
    types = [str(argument.type) for argument in function.arguments]
    given = ", ".join(f"{type} %a{number}" for number, type in enumerate(types))
    call = f'call {result} @"{entry}"({given})'
    back = f"  {call}\n  ret void" if result == "void" else f"  %r = {call}\n  ret {result} %r"
    started = llvm.parse_assembly(
        f"""declare void @{BEFORE}()
declare void @{AFTER}()
declare i32 @{AT_EXIT}(ptr)
declare {result} @"{entry}"({", ".join(types)})
define {result} @{start}({given}) {{
  %registered = call i32 @{AT_EXIT}(ptr @{AFTER})
  call void @{BEFORE}()
{back}
}}
"""
    )
    started.triple, started.data_layout = module.triple, module.data_layout
    module.link_in(started)
