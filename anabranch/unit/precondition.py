"""Preconditions in C: a function with the parameters of the explored one, which calls it where they hold."""

from __future__ import annotations

from anabranch.ir.module import Function
from anabranch.ir.source_types import CType
from anabranch.unit.harness import source_name

ENTRY = "anabranch_with_precondition"


class PreconditionError(Exception):
    """The precondition cannot be put into C; the message says why."""


def with_precondition(included: str, function: Function, prototype: CType | None, condition: str) -> str:
    """C source: that of the function, and `ENTRY`, which gives up where the condition is false."""
    if prototype is None or not included:
        raise PreconditionError(
            f"{function.name}: its prototype is not known, so --assume cannot name parameters"
        )
    names = function.source_parameters
    declared, passed = [], []
    for number, type in enumerate(prototype.parameters, 1):
        name = names.get(number, "")
        if not name:
            raise PreconditionError(f"{function.name}: parameter {number} has no name")
        if not nameable(type):
            raise PreconditionError(f"{function.name}: the type of {name} has no name in C")
        declared.append(type.spell(name))
        passed.append(name)
    result = prototype.target
    returned = "" if result.kind == "void" else "return "
    head = result.spell(f"{ENTRY}({', '.join(declared) or 'void'})")
    return f"""\
#include "{included}"
extern void anabranch_give_up(int) __asm__("klee_silent_exit");
{head} {{
#line 1 "--assume"
  if (!({condition})) anabranch_give_up(0);
  {returned}({source_name(function)})({", ".join(passed)});
}}
"""


def nameable(type: CType, depth: int = 8) -> bool:
    """Can a declaration be written without repeating a definition?"""
    if type.name or type.kind == "void" or not depth:
        return True
    if type.kind in ("pointer", "array"):
        return nameable(type.target, depth - 1)
    if type.kind == "function":
        return nameable(type.target, depth - 1) and all(nameable(p, depth - 1) for p in type.parameters)
    return False
