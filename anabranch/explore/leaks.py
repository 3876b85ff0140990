"""Memory that a program leaves behind: lost, or kept and never freed. Two errors, told when it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.explore.checks import MEMCLEANUP, MEMTRACK, expanded
from anabranch.machine import Fault, Machine, ProgramError
from anabranch.machine.objects import ObjectInfo
from anabranch.machine.reachable import Undecided, unreached

LOST = "leak"
KEPT = "never-freed"
_SHOWN = 8


def watches_heap(checks: Sequence[str]) -> bool:
    """Does it matter at the end which heap objects there are?"""
    return not expanded(checks).isdisjoint((MEMTRACK, MEMCLEANUP))


class LeakCheck:
    """Looks through the heap of a path that came to the end of the program."""

    def __init__(self, checks: Sequence[str]) -> None:
        asked = expanded(checks)
        self._lost = MEMTRACK in asked
        self._kept = MEMCLEANUP in asked

    def fault(self, machine: Machine) -> Fault | None:
        """The error that the end of the running path is. Where only some of its inputs lose memory, that is
        reported, and the path goes on with the others."""
        if not (self._lost or self._kept):
            return None
        heap = {info.id: info for info in machine.memory.live_objects() if info.site.kind == "heap"}
        if not heap:
            return None
        if self._lost:
            lost = self._lost_objects(machine, heap)
            if lost is not None:
                return lost
        return _fault(KEPT, list(heap.values())) if self._kept else None

    def _lost_objects(self, machine: Machine, heap: dict[int, ObjectInfo]) -> Fault | None:
        try:
            conditions = unreached(machine.memory, machine.addresses.named)
        except Undecided:
            machine.lose("leak check: too many pointers that depend on each other")
            return None
        certain = [heap[number] for number, when in conditions.items() if when is True]
        if certain:
            return _fault(LOST, certain)
        for number, when in conditions.items():
            try:
                machine.check(when, _fault(LOST, [heap[number]]))
            except ProgramError as error:
                return error.fault
        return None


def _fault(kind: str, objects: list[ObjectInfo]) -> Fault:
    details: dict[str, Any] = {f"object {n}": info.describe() for n, info in enumerate(objects[:_SHOWN], 1)}
    one = len(objects) == 1
    how = "never freed" if kind == KEPT else f"lost, nothing points to {'it' if one else 'them'}"
    message = f"memory leak: {'1 object' if one else f'{len(objects)} objects'} {how}"
    file, _, line = str(objects[0].site.loc).rpartition(":")
    if file:
        details |= {"file": file, "line": line}
        message += f", {'' if one else 'the first '}allocated at {file}:{line}"
    return Fault(kind, message, details)
