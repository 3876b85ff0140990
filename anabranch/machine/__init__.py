"""The machine: states, memory, the reference interpreter and the translator to Python."""

from anabranch.machine.api import ModelApi
from anabranch.machine.ends import Exit, Fault, Figure, Loss, PathEnd, ProgramError, Silent
from anabranch.machine.joining import CannotJoin, assume, conditions, join, record, single_paths
from anabranch.machine.location import Where, stack
from anabranch.machine.machine import Machine, MachineSettings, Observer
from anabranch.machine.path import Input, Path
from anabranch.machine.state import State

__all__ = [
    "CannotJoin",
    "Exit",
    "Fault",
    "Figure",
    "Input",
    "Loss",
    "Machine",
    "MachineSettings",
    "ModelApi",
    "Observer",
    "Path",
    "PathEnd",
    "ProgramError",
    "Silent",
    "State",
    "Where",
    "assume",
    "conditions",
    "join",
    "record",
    "single_paths",
    "stack",
]
