"""From the objects of a run to those of static analysis."""

from __future__ import annotations

from anabranch.analysis.abstract_objects import ENVIRONMENT, OUTSIDE, AbstractObjects, ObjectKey
from anabranch.machine.memory import Memory
from anabranch.machine.objects import STACK_NUMBERS, AllocationSite


class StaticObjects:
    """Masks of objects by their numbers. What an analysis does not know, an unknown function writes."""

    def __init__(self, memory: Memory, objects: AbstractObjects) -> None:
        self._memory = memory
        self._objects = objects
        self._masks: dict[int, int] = {}
        """By number. A number belongs to one site for ever."""

    def mask(self, number: int) -> int:
        """The mask of an object, alive or dead. Objects that come from outside are all one."""
        found = self._masks.get(number)
        if found is None:
            site = self._site(number)
            if site is None:
                return self.unknown
            found = self._masks[number] = self.mask_of(site.origin)
        return found

    def mask_of(self, origin: ObjectKey | None) -> int:
        found = self._objects.known(origin) if origin is not None else 0
        if origin is not None and origin[0] in ("static", "kernel"):
            found |= self._objects.bit(ENVIRONMENT)
        return found or self.unknown

    @property
    def unknown(self) -> int:
        return self._objects.bit(OUTSIDE) | self._objects.bit(ENVIRONMENT)

    def _site(self, number: int) -> AllocationSite | None:
        site = self._memory.numbers.local_site(number) if number >= STACK_NUMBERS else None
        if site is None:
            info = self._memory.find(number)
            site = info.site if info is not None else None
        return site
