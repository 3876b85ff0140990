"""The machine: states, memory, the reference interpreter and the translator to Python."""

from anabranch.machine.api import ModelApi
from anabranch.machine.ends import Exit, Fault, Figure, Loss, PathEnd, ProgramError, Silent
from anabranch.machine.events import Events
from anabranch.machine.joining import IteEncoder, JoinEncoder, assume, conditions, record, single_paths
from anabranch.machine.location import Where, stack
from anabranch.machine.machine import Machine, MachineSettings, Observer
from anabranch.machine.path import Input, Path
from anabranch.machine.state import State

__all__ = [
    "Events",
    "Exit",
    "Fault",
    "Figure",
    "Input",
    "IteEncoder",
    "JoinEncoder",
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
    "record",
    "single_paths",
    "stack",
]
