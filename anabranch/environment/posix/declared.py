"""Effects of system calls in terms of the parts of the kernel's state (`parts`), and groups that calls share.

A part with an argument belongs to the open file that this argument is the descriptor of. Some kinds are only
read, and say under which circumstances other parts count (`parts.CIRCUMSTANCES`).
"""

from __future__ import annotations

from typing import Final

from anabranch.analysis.effects import Effects, Part, Place, effects
from anabranch.environment.declared_parts import OUTPUT

CLOCK: Final = Part("clock")
CWD: Final = Part("cwd")
FAILURES: Final = Part("failures")
IDENTITY: Final = Part("identity")
LIMITS: Final = Part("limits")
NUMBERS: Final = Part("numbers")
OPEN: Final = Part("open")
PROCESS: Final = Part("process")
RANDOM: Final = Part("random")
SIGNALS: Final = Part("signals")
THREAD_AREA: Final = Part("thread area")
UMASK: Final = Part("umask")

FILES: Final = (Part("fd"), Part("file"))
"""What each descriptor is."""
LOOKUP: Final = (Part("node"), Part("entries"), *FILES, CWD, IDENTITY)
"""What a path leads to; names under /proc/self/fd stand for descriptors."""
TABLE: Final = (*FILES, Part("offset"), OPEN)
"""The table of descriptors."""
NODES: Final = (Part("node"), Part("entries"), Part("data"), Part("size"), Part("times"))
"""All files, but for where they are open."""
STAMPED: Final = (CLOCK, Part("times"))
"""Times of files are those of the clock; nothing else depends on it."""


def opened(argument: int = 0) -> tuple[Part, ...]:
    """What a descriptor is, which decides what a call on it does."""
    return Part("fd", argument), Part("file", argument), Part("node", argument)


def of(kind: str, argument: int = 0) -> Part:
    return Part(kind, argument)


def reading(to: Place, *reads: Place) -> Effects:
    """Contents go into memory; how many bytes depends on the size and the offset, not on the contents."""
    return effects(
        reads=[*opened(), of("size"), of("offset"), of("ends"), of("random"), FAILURES, *reads],
        writes=[to, of("offset"), of("data"), of("size"), of("random"), FAILURES],
        passes=[(of("data"), to)],
    )


def writing(source: Place, *reads: Place) -> Effects:
    """Contents come from memory and are looked at no further. Of a stream nothing else counts."""
    return effects(
        reads=[*opened(), of("position"), of("extent"), of("ends"), FAILURES, *reads],
        writes=[OUTPUT, of("offset"), of("data"), of("size"), of("times"), FAILURES],
        passes=[(source, OUTPUT), (source, of("data")), (CLOCK, of("times"))],
    )


def transferring(source: int, target: int, *offsets: int) -> Effects:
    """Contents go from one descriptor to another; offsets may be in memory."""
    return effects(
        reads=[
            *opened(source), *(of(kind, source) for kind in ("size", "offset", "ends", "random")),
            *opened(target), *(of(kind, target) for kind in ("position", "extent", "ends")), *offsets,
        ],
        writes=[
            *(of(kind, end) for end in (source, target) for kind in ("offset", "data", "size")),
            of("times", target), of("random", source), OUTPUT, *offsets,
        ],
        passes=[
            (of("data", source), OUTPUT),
            (of("data", source), of("data", target)),
            (CLOCK, of("times", target)),
        ],
    )  # fmt: skip


def naming(*reads: Place) -> Effects:
    """Names are made or removed."""
    return effects(
        reads=[*LOOKUP, NUMBERS, UMASK, Part("size"), *reads],
        writes=[*NODES, NUMBERS],
        passes=[STAMPED],
    )


def metadata(*reads: Place) -> Effects:
    """The status of a file changes."""
    return effects(
        reads=[*LOOKUP, FAILURES, *reads], writes=[Part("node"), Part("times"), FAILURES], passes=[STAMPED]
    )


def telling(to: int, *reads: Place) -> Effects:
    """An answer goes into memory."""
    return effects(reads=reads, writes=[to])


OPENING: Final = effects(
    reads=[*LOOKUP, NUMBERS, UMASK, OPEN, 1],
    writes=[*NODES, *TABLE, NUMBERS],
    passes=[STAMPED],
)
CLOSING: Final = effects(
    reads=[*opened(), of("users"), FAILURES],
    writes=[
        of("fd"), of("file"), of("offset"), OPEN,
        of("node"), of("data"), of("size"), of("times"), of("entries"), FAILURES,
    ],
)  # fmt: skip
REPLACING: Final = effects(reads=[*FILES, OPEN, Part("node"), CWD], writes=[*TABLE, *NODES])
"""Descriptors stand for other files, and those that they stood for are closed."""
SIZING: Final = effects(
    reads=[*opened(), of("size"), FAILURES],
    writes=[of("data"), of("size"), of("times"), FAILURES],
    passes=[(CLOCK, of("times"))],
)
STATUS: Final = (Part("node"), Part("size"), Part("times"))
