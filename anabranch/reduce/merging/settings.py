"""The settings of merging."""

from __future__ import annotations

from anabranch.options import SettingsGroup, option, switch
from anabranch.reduce.merging.policies import POLICIES
from anabranch.values import at_least, number_between, one_of, one_of_these

AUTO = "auto"
"""The policy of dual exploration."""


class MergingSettings(SettingsGroup, heading="Merging"):
    """Which states are merged, where, and by which estimates."""

    policy: str = option(
        "default", "merge",
        lambda: f"merge paths that meet again: none; {POLICIES.help()}; default: none for --goal coverage or"
        " --zeq, else auto",
        one_of_these(lambda: ("default", "none", *POLICIES.names())), metavar="WHICH",
    )  # fmt: skip
    kind: str = option(
        "auto", "merging",
        "static: in topological order; dynamic: around the search order; auto: dynamic for --goal"
        " coverage with --max-time, else static",
        one_of("static", "dynamic", "auto"), metavar="HOW",
    )  # fmt: skip
    alpha: float = option(
        0.35, "qce-alpha", "share of the queries to come that a differing variable may affect",
        number_between(0.0, 1e9), metavar="A",
    )  # fmt: skip
    beta: float = option(
        0.8, "qce-beta", "estimated probability that a side of a branch is feasible",
        number_between(0.01, 1.0), metavar="B",
    )  # fmt: skip
    kappa: int = option(
        10, "qce-kappa", "estimated iterations of a loop, where unknown", at_least(1), metavar="K"
    )
    zeta: float = option(
        2.0, "qce-zeta", "estimated cost of a query on a merged value, in queries",
        number_between(1.0, 1e9), metavar="Z",
    )  # fmt: skip
    loops: str = option(
        "auto", "loops",
        "how the states that left a loop become one: rounds: a number says in which round; quantified: where"
        " their conditions have a pattern; summaries: all rounds of a loop without effects at once, others"
        " with rounds; off: in pairs, as any others; auto: summaries. Dynamic merging has summaries only",
        one_of("auto", "rounds", "quantified", "summaries", "off"), metavar="HOW",
    )  # fmt: skip
    report: bool = switch("merge-report", "show at the end what merging brought and cost at each location")
