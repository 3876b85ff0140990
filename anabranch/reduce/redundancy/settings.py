"""The settings of redundant state detection."""

from __future__ import annotations

from anabranch.options import SettingsGroup, option, switch
from anabranch.values import one_of


class RedundancySettings(SettingsGroup, heading="Redundancy"):
    """How states that cannot reach new code are found."""

    use: str = option(
        "off", "redundancy",
        "drop states that cannot reach code that is not covered: off, on (with --goal coverage)",
        one_of("off", "on"), metavar="HOW",
    )  # fmt: skip
    cover: tuple[str, ...] = option(
        (), "cover", "the code to be covered: that of this source file (repeatable; default: all of it)", str,
        metavar="FILE", repeat=True,
    )  # fmt: skip
    keep_errors: bool = switch(
        "keep-errors", "with --redundancy, drop only states that cannot come to errors at new places either",
        default=True,
    )  # fmt: skip
    joins: bool = switch("redundancy-joins", "compare states where branches come together, too", default=True)
