"""Locals that may become registers without hiding anything that the program does wrong.

LLVM's `sroa` promotes more than that: an access outside of a local array or a read of a local that was never
written becomes `undef`, and the fault is gone. So the text of a module is marked before it runs:

- A local is *promotable* if it is a scalar that is only read and written whole and whose address goes
  nowhere: no access to it can fail. Where its life begins it is given the result of an opaque function
  `@anabranch.undef.<type>()`. If it is read before it is written, that call is what it holds, and the
  machine answers it with an undefined value.
- Every other local is handed to an opaque function `@anabranch.keep(ptr)`, which `sroa` respects: it stays in
  memory, where the machine checks each access.

`without_marks` removes what is left of both when the passes have run. This works on the text of a module,
which is where the names of values are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

UNDEF = "anabranch.undef."
KEEP = "anabranch.keep"

_NAME = r'%(?:[-a-zA-Z$._0-9]+|"[^"]*")'
_SCALAR = r"i\d+|ptr|half|bfloat|float|double|x86_fp80|fp128"
_LOCAL = re.compile(rf"^  ({_NAME}) = alloca ")
_ALLOCA = re.compile(rf"^  ({_NAME}) = alloca ({_SCALAR})(?:, align \d+)?(?:, ![^,]+)*$")
_LIFETIME = re.compile(
    rf"call void @llvm\.lifetime\.(start|end)\.p0\((?:i64 (?:immarg )?-?\d+, )?ptr (?:\w+ )*({_NAME})\)"
)
_ANY_NAME = re.compile(_NAME)
_PARAMETER = re.compile(rf"({_NAME})[,)]")
_PLACE = re.compile(r", !dbg !\d+")
_MARK = re.compile(r"%anabranch\.u\d+")


@dataclass(slots=True)
class _Locals:
    """The locals of one function."""

    promotable: dict[str, str]
    """Name -> type."""
    written_first: set[str]
    """Promotable ones that hold a parameter: they are never read before they are written."""
    started: set[str]
    """Those whose life begins at a marker, not where they are made."""


def mark_locals(text: str) -> str:
    """The module's text with every local marked."""
    out: list[str] = []
    types: set[str] = set()
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        if not line.startswith("define"):
            out.append(line)
            position += 1
            continue
        end = position
        while end < len(lines) and lines[end] != "}":
            end += 1
        out.append(line)
        out.extend(_mark_function(line, lines[position + 1 : end], types))
        position = end
    declarations = [
        f"declare {name} @{UNDEF}{name}() nounwind willreturn memory(none)"
        for name in sorted(types)
        if f"@{UNDEF}{name}()" not in text
    ]
    if f"@{KEEP}(" not in text:
        declarations.append(f"declare void @{KEEP}(ptr)")
    return "\n".join([*out, *declarations, ""])


def without_marks(text: str) -> str:
    """The text without the marks that have done their work: all of `keep`, and values that nobody uses."""
    out: list[str] = []
    body: list[str] = []
    for line in text.split("\n"):
        if f"void @{KEEP}(" in line:
            continue
        body.append(line)
        if line == "}":
            out += _without_unused(body)
            body = []
    return "\n".join([*out, *body])


def _without_unused(lines: list[str]) -> list[str]:
    """The lines of a function without marks that only debug records mention, and those records."""
    marked = [line for line in lines if "%anabranch.u" in line]
    used = {
        name
        for line in marked
        if not line.startswith("    #dbg")
        for name in _MARK.findall(line.partition(" = ")[2] or line)
    }
    unused = {name for line in marked for name in _MARK.findall(line)} - used
    if not unused:
        return lines
    return [line for line in lines if "%anabranch.u" not in line or unused.isdisjoint(_MARK.findall(line))]


def _mark_function(header: str, lines: list[str], types: set[str]) -> list[str]:
    found = _find_locals(header, lines)
    out: list[str] = []
    count = 0
    for line in lines:
        out.append(line)
        name, place = None, ""
        if " = alloca " in line and (local := _LOCAL.match(line)):
            if local[1] not in found.promotable:
                out.append(f"  call void @{KEEP}(ptr {local[1]})")
            elif local[1] not in found.started:
                name = local[1]
        elif "lifetime.start" in line and (start := _LIFETIME.search(line)):
            name = start[2]
            shown = _PLACE.search(line)
            place = shown[0] if shown else ""
        if name in found.promotable and name not in found.written_first:
            type = found.promotable[name]
            types.add(type)
            # Named values leave the numbering of the unnamed ones as it is.
            out.append(f"  %anabranch.u{count} = call {type} @{UNDEF}{type}(){place}")
            out.append(f"  store {type} %anabranch.u{count}, ptr {name}{place}")
            count += 1
    return out


def _find_locals(header: str, lines: list[str]) -> _Locals:
    found = _Locals({}, set(), set())
    read: set[str] = set()
    for line in lines:
        if " = alloca " in line and (match := _ALLOCA.match(line)):
            found.promotable[match[1]] = match[2]
    parameters = set(_PARAMETER.findall(header))
    in_entry = True
    for line in lines if found.promotable else ():
        if line.startswith("    #dbg") or line.startswith("; "):
            continue
        in_entry = in_entry and line.startswith("  ") and not line.startswith(("  br ", "  switch "))
        for name in _ANY_NAME.findall(line):
            type = found.promotable.get(name)
            if type is None:
                continue
            if (marker := _LIFETIME.search(line)) and marker[1] == "start":
                found.started.add(name)
            if not _harmless(line, name, type):
                del found.promotable[name]
            elif in_entry and name not in read and _stored(line, type, name) in parameters:
                found.written_first.add(name)
            elif " = load " in line:
                read.add(name)
    found.written_first -= found.started
    return found


def _stored(line: str, type: str, name: str) -> str:
    """What a line stores into a local, or the line itself."""
    return line.removeprefix(f"  store {type} ").partition(f", ptr {name}")[0]


def _harmless(line: str, name: str, type: str) -> bool:
    """Is this mention the definition, a life time, debug information, or a load or store of the whole?"""
    body = line.strip()
    if body.startswith(f"{name} = alloca "):
        return True
    if "@llvm.lifetime." in body or "@llvm.dbg." in body:
        return True
    end = f"ptr {name}"
    if f" = load {type}, {end}" in body:
        return body.partition(f", {end}")[2][:1] in ("", ",")
    if body.startswith(f"store {type} "):
        value, _, rest = body.removeprefix(f"store {type} ").partition(f", {end}")
        return rest[:1] in ("", ",") and name not in _ANY_NAME.findall(value)
    return False
