"""Two states as one."""

from anabranch.machine.joining.chains import Either, Joined, conditions, record
from anabranch.machine.joining.paths import single_paths
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.states import join

__all__ = ["CannotJoin", "Either", "Joined", "conditions", "join", "record", "single_paths"]
