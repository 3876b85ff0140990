"""How exploration enters a program: the arguments of `main`, or the input of a fuzz target."""

from __future__ import annotations

from typing import Any

from anabranch import expr
from anabranch.ir.module import Function
from anabranch.machine import ModelApi

FUZZ_ENTRIES = ("LLVMFuzzerTestOneInput", "__anabranch_start_fuzz")
MAIN_ENTRIES = ("main", "__anabranch_start")
"""The function itself, and what runs before it in a program on a real C library with the same arguments."""
PROGRAM_NAME = b"program\0"


def entry_arguments(api: ModelApi, function: Function, max_len: int) -> list[Any]:
    """The values that the entry function is called with."""
    if function.name in FUZZ_ENTRIES:
        return fuzz_arguments(api, max_len)
    if function.name in MAIN_ENTRIES:
        return main_arguments(api, len(function.params))
    return []


def main_arguments(api: ModelApi, count: int) -> list[Any]:
    """`argc`, `argv` and `envp` of a program started without arguments."""
    if count == 0:
        return []
    name = api.allocate(len(PROGRAM_NAME), "global", "argv[0]")
    api.write_bytes(name, PROGRAM_NAME)
    argv = api.allocate(16, "global", "argv")
    api.store(argv, 8, name)
    api.store(argv + 8, 8, 0)
    environment = api.allocate(8, "global", "envp")
    api.store(environment, 8, 0)
    return [1, argv, environment][:count]


def fuzz_arguments(api: ModelApi, max_len: int) -> list[Any]:
    """Symbolic data of a symbolic size up to `max_len`, as a fuzzer would give it."""
    size = api.fresh("fuzz_size", 64)
    api.assume(expr.ule(size, max_len, 64))
    data = api.allocate(max_len, "heap", "fuzz_data")
    api.make_symbolic(data, max_len, "fuzz_data")
    return [data, size]
