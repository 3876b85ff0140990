"""Several states as one."""

from anabranch.machine.joining.chains import Either, Joined, chain_length, conditions, record
from anabranch.machine.joining.encoder import IteEncoder, Join, JoinEncoder
from anabranch.machine.joining.paths import assume, single_paths
from anabranch.machine.joining.refusal import CannotJoin
from anabranch.machine.joining.states import join

__all__ = [
    "CannotJoin",
    "Either",
    "IteEncoder",
    "Join",
    "JoinEncoder",
    "Joined",
    "assume",
    "chain_length",
    "conditions",
    "join",
    "record",
    "single_paths",
]
