"""Several states as one."""

from anabranch.machine.joining.chains import chain_length, conditions, record
from anabranch.machine.joining.encoder import IteEncoder, JoinEncoder
from anabranch.machine.joining.paths import assume, single_paths
from anabranch.machine.joining.refusal import CannotJoin

__all__ = [
    "CannotJoin",
    "IteEncoder",
    "JoinEncoder",
    "assume",
    "chain_length",
    "conditions",
    "record",
    "single_paths",
]
