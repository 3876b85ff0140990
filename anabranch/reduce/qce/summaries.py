"""What a call brings to its caller: queries by what they depend on, the result's dependences, writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anabranch.analysis.addresses import Base
from anabranch.reduce.qce.parameters import QceParameters

Variable = (
    tuple[Literal["local"], int]
    | tuple[Literal["cell"], Base, int, int]
    | tuple[Literal["any"], Base]
    | tuple[Literal["heap"]]
    | tuple[Literal["extent"], Base | None]
)
"""What can differ between two states: an SSA value, memory at a constant offset of a base, memory elsewhere
in a base, memory that no base of the function leads to, the size of the object that a base points into (None:
of those that no base leads to). At a function's entry, locals are its arguments."""

HEAP: Variable = ("heap",)
HEAP_EXTENT: Variable = ("extent", None)


@dataclass(frozen=True, slots=True)
class Summary:
    """A function as its callers see it. Queries are grouped by the set of entry variables they depend on, so
    that one depending on two variables that both come from one value of the caller is counted once."""

    queries: tuple[tuple[tuple[Variable, ...], float], ...] = ()
    """Variables and number of queries that depend on just these, times 2 ** exponent."""
    exponent: int = 0
    result: tuple[Variable, ...] = ()
    """What the returned value may depend on."""
    writes: tuple[tuple[tuple[Variable, ...], tuple[Variable, ...]], ...] = ()
    """Memory that may be written, and what the written values may depend on."""


NOTHING = Summary()

_READERS = {
    "strlen": 1, "strnlen": 1, "strcmp": 2, "strncmp": 2, "strcasecmp": 2, "strncasecmp": 2, "strcoll": 2,
    "memcmp": 2, "bcmp": 2, "memchr": 1, "memrchr": 1, "__memrchr": 1, "rawmemchr": 1, "strchr": 1,
    "index": 1,
    "strchrnul": 1, "__strchrnul": 1, "strrchr": 1, "rindex": 1, "strstr": 2, "memmem": 2, "strspn": 2,
    "strcspn": 2, "strpbrk": 2, "atoi": 1, "atol": 1, "atoll": 1, "strtol": 1, "strtoll": 1, "strtoul": 1,
    "strtoull": 1, "strtoimax": 1, "strtoumax": 1,
}  # fmt: skip
"""Functions that decide by the bytes behind their first so many arguments."""

_COPIERS = {
    "memcpy": 0, "memmove": 0, "mempcpy": 0, "strcpy": 1, "stpcpy": 1, "strncpy": 1, "stpncpy": 1,
    "strcat": 1, "strncat": 1, "strlcpy": 1, "strlcat": 1, "memccpy": 1,
}  # fmt: skip
"""Functions that copy from their second argument to the first; 1 if they decide by what they copy."""

_ASSUMPTIONS = frozenset(("klee_assume", "__VERIFIER_assume"))


def _behind(argument: int) -> Variable:
    return ("any", ("argument", argument))


def _extents(arguments: int) -> tuple[Variable, ...]:
    """The sizes of what the first so many arguments point to."""
    return tuple(("extent", ("argument", i)) for i in range(arguments))


def _arguments(count: int) -> tuple[Variable, ...]:
    return tuple(("local", i) for i in range(count))


def external_summary(name: str, arguments: int, parameters: QceParameters) -> Summary:
    """A function without a body. Unless it is known here, its result depends on its arguments and it makes no
    queries and writes nothing that is read."""
    everything = _arguments(arguments)
    if name.startswith("llvm."):
        name = name.split(".")[1]
        if name not in ("memcpy", "memmove", "memset"):
            return Summary(result=everything)
    if name in _READERS:
        strings = min(_READERS[name], arguments)
        read = (*everything, *(_behind(i) for i in range(strings)))
        return Summary(queries=(((*read, *_extents(strings)), parameters.model_weight),), result=read)
    if name in _COPIERS and arguments >= 2:
        copied = (*everything, _behind(1))
        if _COPIERS[name]:
            asked, weight = copied, parameters.model_weight
        else:
            asked, weight = everything, parameters.memory_weight
        asked = (*asked, *_extents(2))
        return Summary(((asked, weight),), 0, everything, (((_behind(0),), copied),))
    if name == "memset" and arguments >= 3:
        asked = (*everything, *_extents(1))
        return Summary(((asked, parameters.memory_weight),), 0, everything, (((_behind(0),), everything),))
    if name in _ASSUMPTIONS and arguments:
        return Summary(queries=((everything[-1:], parameters.check_weight),))
    if name in ("malloc", "calloc", "realloc", "free") and arguments:
        return Summary(queries=((everything, parameters.check_weight),), result=everything)
    return Summary(result=everything)


def mixed(summaries: list[Summary]) -> Summary:
    """One of several functions, each as likely as the others."""
    if len(summaries) == 1:
        return summaries[0]
    if not summaries:
        return NOTHING
    exponent = max(s.exponent for s in summaries)
    queries: dict[tuple[Variable, ...], float] = {}
    for summary in summaries:
        factor = 2.0 ** (summary.exponent - exponent) / len(summaries)
        for variables, count in summary.queries:
            queries[variables] = queries.get(variables, 0.0) + count * factor
    result = dict.fromkeys(v for s in summaries for v in s.result)
    writes = dict.fromkeys(w for s in summaries for w in s.writes)
    return Summary(tuple(queries.items()), exponent, tuple(result), tuple(writes))
