"""Marks uninitialised local scalars, so that promoting them to registers does not hide their use.

`sroa` turns a local that is read before it is written into `undef`, and folds `undef` away. So, before it
runs, every scalar local that it will promote is given, where its life begins, the result of an opaque
function `@anabranch.undef.<type>()`. Where the local is always written first, that store is dead and goes,
and the call with it; where it is not, the call stays, and the machine answers it with an undefined value.

Locals whose address is used otherwise stay in memory, which the machine tracks byte by byte: no mark needed.
This works on the text of a module, which is where the names of values are.
"""

from __future__ import annotations

import re

PREFIX = "anabranch.undef."

_NAME = r'%(?:[-a-zA-Z$._0-9]+|"[^"]*")'
_SCALAR = r"i\d+|ptr|half|bfloat|float|double|x86_fp80|fp128"
_ALLOCA = re.compile(rf"^  ({_NAME}) = alloca ({_SCALAR})(?:, align \d+)?(?:, ![^,]+)*$")
_LIFETIME = re.compile(
    rf"call void @llvm\.lifetime\.(start|end)\.p0\((?:i64 (?:immarg )?-?\d+, )?ptr (?:\w+ )*({_NAME})\)"
)
_ANY_NAME = re.compile(_NAME)
_PARAMETER = re.compile(rf"({_NAME})[,)]")
_PLACE = re.compile(r", !dbg !\d+")


def mark_uninitialised(text: str) -> str:
    """The module's text with every promotable scalar local marked."""
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
        f"declare {name} @{PREFIX}{name}() nounwind willreturn memory(none)"
        for name in sorted(types)
        if f"@{PREFIX}{name}()" not in text
    ]
    return "\n".join([*out, *declarations, ""])


def _mark_function(header: str, lines: list[str], types: set[str]) -> list[str]:
    locals_ = _promotable(header, lines)
    started = set()
    for line in lines:
        match = _LIFETIME.search(line) if "lifetime.start" in line else None
        if match and match[2] in locals_:
            started.add(match[2])
    out: list[str] = []
    count = 0
    for line in lines:
        out.append(line)
        name, place = None, ""
        if " = alloca " in line:
            match = _ALLOCA.match(line)
            name = match[1] if match and match[1] not in started else None
        elif "lifetime.start" in line:
            match = _LIFETIME.search(line)
            name = match[2] if match else None
            found = _PLACE.search(line)
            place = found[0] if found else ""
        if name in locals_:
            type = locals_[name]
            types.add(type)
            # Named values leave the numbering of the unnamed ones as it is.
            out.append(f"  %anabranch.u{count} = call {type} @{PREFIX}{type}(){place}")
            out.append(f"  store {type} %anabranch.u{count}, ptr {name}{place}")
            count += 1
    return out


def _promotable(header: str, lines: list[str]) -> dict[str, str]:
    """Scalar locals that are only loaded and stored whole, and do not just hold a parameter: name -> type."""
    locals_: dict[str, str] = {}
    for line in lines:
        if " = alloca " in line and (match := _ALLOCA.match(line)):
            locals_[match[1]] = match[2]
    if not locals_:
        return locals_
    parameters = set(_PARAMETER.findall(header))
    for line in lines:
        if line.startswith("    #dbg") or line.startswith("; "):
            continue
        for name in _ANY_NAME.findall(line):
            if name in locals_ and not _harmless(line, name, locals_[name], parameters):
                del locals_[name]
    return locals_


def _harmless(line: str, name: str, type: str, parameters: set[str]) -> bool:
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
        return rest[:1] in ("", ",") and name not in value and value not in parameters
    return False
