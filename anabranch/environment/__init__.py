"""The C functions that analysed programs may call without a body of their own."""

from anabranch.environment import (  # registers the models
    chars,
    convert,
    heap,
    klee,
    memory,
    numbers,
    output,
    posix,
    process,
    sanitizers,
    string_copy,
    strings,
    unmodelled,
    verifier,
)
from anabranch.environment.api import Value
from anabranch.environment.output import EXTERNAL_GLOBALS
from anabranch.environment.posix import ProgramInput, program_arguments
from anabranch.environment.registry import MODELS, OVERRIDES, Model
from anabranch.environment.text import Item, render
from anabranch.environment.verifier import NONDET
