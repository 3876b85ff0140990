"""What is known of a function once it has been checked, as plain data; and of a program, as the sum of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from anabranch.check.findings import Finding
from anabranch.check.order import Order
from anabranch.check.reports import Report

COUNTERS = ("verdicts", "undecided", "losses", "imprecise", "unknown_externals")
NUMBERS = ("instructions", "conditions", "queries", "expansions")


@dataclass(slots=True)
class FunctionRecord:
    """The same whatever was checked before the function, and in which process."""

    name: str
    reports: list[Report] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    """The conditions that are left to the callers, by number in `Gated.conditions`."""
    verdicts: Counter[str] = field(default_factory=Counter)
    """Conditions by verdict: proved, refuted, undecided, left to the callers."""
    undecided: Counter[str] = field(default_factory=Counter)
    """Conditions without a verdict, by reason."""
    losses: Counter[str] = field(default_factory=Counter)
    """Unsound choices by kind: a verdict may be wrong because of them."""
    imprecise: Counter[str] = field(default_factory=Counter)
    """Values taken as unknown, by reason: these make reports of what cannot happen, not missed errors."""
    unknown_externals: Counter[str] = field(default_factory=Counter)
    """Calls of functions without a body and without a contract."""
    failed: str = ""
    """Why it could not be checked."""
    form: str = ""
    """A digest of what callers can see of it; see `interface`."""
    instructions: int = 0
    conditions: int = 0
    queries: int = 0
    expansions: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    """CPU time by what it was spent on; `gating` is without `lifting`, which is asking at calls what callees
    want of their callers. The one part that differs from run to run."""

    def spend(self, what: str, seconds: float) -> None:
        self.seconds[what] = self.seconds.get(what, 0.0) + seconds


@dataclass(slots=True)
class CheckResult:
    """What came of a check: the sum of all records."""

    order: Order
    reports: list[Report] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Only if all functions were checked in this process."""
    verdicts: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    imprecise: Counter[str] = field(default_factory=Counter)
    unknown_externals: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    """Functions that could not be checked, with the reason."""
    instructions: int = 0
    conditions: int = 0
    queries: int = 0
    expansions: int = 0
    functions: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, record: FunctionRecord) -> None:
        self.functions += 1
        self.reports += record.reports
        if record.failed:
            self.failed[record.name] = record.failed
        for name in COUNTERS:
            getattr(self, name).update(getattr(record, name))
        for name in NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(record, name))
        for what, spent in record.seconds.items():
            self.seconds[what] = self.seconds.get(what, 0.0) + spent
