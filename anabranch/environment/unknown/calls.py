"""Functions without a body (Li et al., section 4.3): who stands for them, and how often they were called."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import islice
from typing import Any

from anabranch.contracts import NOTHING_KNOWN, Contract
from anabranch.environment.output import TO_FILES
from anabranch.environment.registry import is_unknown
from anabranch.environment.unknown.callee import Callee
from anabranch.environment.unknown.objects import UnknownObjects
from anabranch.ir.module import Function
from anabranch.ir.types import Type
from anabranch.machine.location import Where
from anabranch.machine.state import callers

SITES = 16  # calls around that of an unknown function, which its result is named by


class UnknownFunctions:
    """Models for whatever has neither a body nor a model; counts their calls."""

    def __init__(
        self, objects: UnknownObjects, contracts: Mapping[str, Contract] | None = None, write: bool = False
    ) -> None:
        """`write`: a function of which nobody says what it writes may write whatever it is given."""
        self.objects = objects
        self.machine = objects.machine
        self.api = objects.machine.api
        self.contracts = contracts or {}
        self.write = write
        self.calls: dict[str, dict[str, int]] = {}
        """Function -> location of the call -> how often it was called there, on all paths together."""
        self._contexts: dict[Hashable, int] = {}
        self._locations: dict[Hashable, str] = {}  # of calls as text, by instruction
        self.known: dict[Any, None] = {}
        """What contracts say of answers, as conditions."""
        program = objects.machine.program
        program.unknown_model = self.model
        program.unknown_callee = self.callee

    def as_json(self) -> dict[str, Any]:
        """The calls as `run.json` tells them."""
        return {
            name: {"count": sum(locations.values()), "places": dict(sorted(locations.items()))}
            for name, locations in sorted(self.calls.items())
        }

    # ---- finding -------------------------------------------------------------------------------------

    def model(self, name: str) -> Callee | None:
        """What stands for a function that is declared only."""
        function = self.machine.module.functions.get(name)
        if function is None or name.startswith("llvm."):
            return None
        prototype = self.objects.types.function(function.subprogram_id)
        return Callee(self, name, function.type.ret, prototype, self.contract(name), function)

    def callee(self, address: int, result: Type) -> Callee | None:
        """What a pointer to an unknown function calls."""
        made = self.objects.by_number.get(address >> 32)
        if made is None or made.function is None or address & 0xFFFFFFFF:
            return None
        return Callee(self, made.pointer, result, made.function, self.contract(made.pointer), None)

    def stands_for(self, function: Function) -> bool:
        """Does a call of this function come here?"""
        return is_unknown(function) or (self.write and function.is_declaration and function.name in TO_FILES)

    def contract(self, name: str) -> Contract:
        return self.contracts.get(name, NOTHING_KNOWN)

    # ---- calling -------------------------------------------------------------------------------------

    def symbol(self, name: str, where: Where | None) -> str:
        """What a result is called inside: by the calls that led to it, not by how many answers the path has
        had before. Paths that asked once more or less somewhere else go on with the same variables, so that
        what was found out on one of them is known on the others."""
        if where is None:
            return f"{name}() #0"
        around = islice(callers(where.continuation), SITES - 1)
        sites = (where.key, *[continuation[1] for continuation in around])
        number = self._contexts.setdefault(sites, len(self._contexts) + 1)
        return f"{name}() #{number}"

    def count(self, name: str, where: Where | None) -> None:
        key = where.key if where is not None else None
        location = self._locations.get(key)
        if location is None:
            location = self._locations[key] = where.text() if where is not None else ""
        locations = self.calls.setdefault(name, {})
        locations[location] = locations.get(location, 0) + 1
