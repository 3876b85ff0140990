"""Which object an access through an unknown pointer means.

The addresses of the machine are numbers, so that null plus a large enough index would be the address of
some object. No caller can mean that: whether a pointer is null is decided first, and null is an error at any
index.
Likewise for numbers that nothing made an address of.
"""

from __future__ import annotations

from typing import Any

from anabranch.expr import Expr, substitute
from anabranch.expr.variables import postorder_within
from anabranch.machine.addresses import base_numbers, nearest
from anabranch.machine.ends import Fault, ProgramError
from anabranch.machine.machine import Machine

Value = Any
STEPS = 64  # nodes looked at for the base of an address
NODES = 4096  # of an address that is searched for constants
FIRST_ADDRESS = 1 << 32


class BaseChooser:
    """Decides choices between null and an object in addresses."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def choose(self, address: Expr) -> Value:
        """The address with its base decided; the error where there is none. May fork."""
        value: Value = address
        while value.__class__ is Expr:
            choice = nullable(value)
            if choice is None:
                break
            taken = choice.b if bool(choice.a) else choice.c
            value = substitute(value, {choice: taken})
            if _is_null(taken) and not self._based(value):
                raise ProgramError(
                    Fault("null-pointer", "memory error: null pointer dereference", {"address": value})
                )
        if value.__class__ is Expr and not self._based(value):
            raise ProgramError(Fault("wild-pointer", "memory error: wild pointer", {"address": value}))
        return value

    def _based(self, address: Value) -> bool:
        """Can the address belong to an object at all?"""
        if address.__class__ is int:
            return nearest(address) != 0
        if any(
            number and self.machine.memory.find(number) is not None for number in base_numbers(address) or ()
        ):
            return True
        nodes = postorder_within([address], NODES)
        return nodes is None or any(
            part.__class__ is int and part >= FIRST_ADDRESS
            for node in nodes
            for part in (node.a, node.b, node.c)
        )


def nullable(address: Expr) -> Expr | None:
    """A choice between null and something else in the sum that an address is."""
    pending: list[Value] = [address]
    for _ in range(STEPS):
        if not pending:
            return None
        node = pending.pop()
        if node.__class__ is not Expr:
            continue
        if node.op == "add":
            pending += [node.a, node.b]
        elif node.op == "ite":
            if (_is_null(node.b) and _is_address(node.c)) or (_is_null(node.c) and _is_address(node.b)):
                return node
            pending += [node.b, node.c]
    return None


def _is_null(part: Value) -> bool:
    """Null, or a member of what null would lead to."""
    return part.__class__ is int and nearest(part) == 0


def _is_address(part: Value) -> bool:
    """Not an index: something with the number of an object in it."""
    return nearest(part) != 0 if part.__class__ is int else any(base_numbers(part) or ())
