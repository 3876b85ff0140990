"""What holds of the whole program, by the form of its code: worked out before any function is checked."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.check.noreturn import never_returning
from anabranch.check.order import Order, order_functions, unwritten_globals
from anabranch.check.settings import CheckSettings
from anabranch.contracts import Externals
from anabranch.ir.module import Module


@dataclass(frozen=True, slots=True)
class Facts:
    order: Order
    never_return: frozenset[str]
    """Functions that never come back."""
    unwritten: frozenset[str]
    """Globals that keep their initial values."""
    unwritten_here: frozenset[str]
    """Globals that keep them as long as code that is not here does not write them."""


def facts_of(module: Module, settings: CheckSettings, externals: Externals) -> Facts:
    never_return = never_returning(module, externals)
    order = order_functions(module, settings.all_functions, never_return, settings.max_targets)
    return Facts(order, never_return, *unwritten_globals(module))
