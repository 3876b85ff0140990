"""The kernel as analysed programs see it: system calls over a file system that belongs to the path."""

from anabranch.environment.posix import (  # registers the system calls
    calls_descriptors,
    calls_files,
    calls_memory,
    calls_metadata,
    calls_misc,
    calls_paths,
    calls_processes,
    calls_signals,
    calls_time,
    calls_transfer,
    models,
)
from anabranch.environment.posix.arguments import ProgramInput, program_arguments
from anabranch.environment.posix.kernel import CALLS
