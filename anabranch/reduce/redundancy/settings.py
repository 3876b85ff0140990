"""The settings of redundant state detection."""

from __future__ import annotations

from anabranch.options import SettingsGroup, option, switch
from anabranch.values import one_of

AUTO = "auto"


class RedundancySettings(SettingsGroup, heading="Redundancy"):
    """How states that cannot reach new code are found."""

    use: str = option(
        "off", "redundancy",
        "with --goal coverage, drop states that cannot reach code that is not covered: off, on, auto (unless "
        "the time is limited, as long as it pays)",
        one_of("off", "on", AUTO), metavar="HOW",
    )  # fmt: skip
    cover: tuple[str, ...] = option(
        (), "cover", "the code to be covered: that of this source file (repeatable; default: all of it)", str,
        metavar="FILE", repeat=True,
    )  # fmt: skip
    keep_errors: bool = switch(
        "keep-errors",
        "with --redundancy, also drop states that might come to an error at a new place",
        default=True,
    )
    joins: bool = switch(
        "redundancy-joins",
        "compare states at forks and calls only, not where branches come together",
        default=True,
    )
