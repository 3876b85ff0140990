"""Two states as one."""

from anabranch.machine.joining.chains import Either, Joined, conditions, record
from anabranch.machine.joining.paths import assume, single_paths
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.states import join

__all__ = ["CannotJoin", "Either", "Joined", "assume", "conditions", "join", "record", "single_paths"]
