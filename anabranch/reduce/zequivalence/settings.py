"""The settings of z-equivalence."""

from __future__ import annotations

from anabranch.options import SettingsGroup, option, switch
from anabranch.values import at_least, one_of


class ZSettings(SettingsGroup, heading="Equivalence"):
    """How z-equivalent states are found."""

    method: str = option(
        "off", "zeq",
        "of states that the callers of a function cannot tell apart, keep one: off; rules: found by form;"
        " exact: where many are left, also by the solver (not with --goal paths)",
        one_of("off", "rules", "exact"), metavar="HOW",
    )  # fmt: skip
    observe: str = option(
        "live", "zeq-observe",
        "what callers can tell apart: live (what they can still read), function (arguments as well, as in the"
        " paper)", one_of("live", "function"), metavar="WHAT",
    )  # fmt: skip
    wait: int = option(
        0, "zeq-wait",
        "callers wait for at most N turns of the paths inside a call (0: 4096, or none with --max-time)",
        at_least(0), metavar="N",
    )  # fmt: skip
    report: bool = switch("zeq-report", "show at the end what was removed behind the calls of each function")
