"""The settings of `anabranch unit` beside those of a run."""

from __future__ import annotations

from anabranch.options import SettingsGroup, option, switch

ALL_SECONDS = 20.0
"""The limit of time for each function with `--all`, unless one is given."""


class UnitSettings(SettingsGroup, heading="Unit"):
    """Which functions are explored, from what calls."""

    everything: bool = switch(
        "all",
        f"every function of the files (--max-time {ALL_SECONDS:g}s each, unless given)",
        key="everything",
    )
    null_args: bool = switch("null-args", "pointer arguments may be null")
    assume: str | None = option(
        None, "assume", 'precondition, in C over the parameters: "n > 0 && n < 100"', str, metavar="C"
    )
    reproduce: bool = switch("reproduce", "do not run the harnesses natively", default=True)
