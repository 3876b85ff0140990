"""Hill climbing over the parameters of query count estimation.

The cost of a setting is the CPU time that exhaustive exploration of a set of programs takes with it; a
program that does not finish counts as twice its limit. Starting from the defaults (then from random places,
with `--restarts`), one parameter at a time is moved up or down its ladder of values, as long as that makes
the cost clearly smaller. The same seed tries the same settings, as far as the times allow.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anabranch.cli.settings import all_groups
from anabranch.options import settings_of
from bench.lib.scaling import measure
from bench.lib.table import print_table
from bench.lib.work import tell

LADDERS: dict[str, tuple[float, ...]] = {
    "qce-alpha": (1e-12, 1e-6, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 2.0, 5.0),
    "qce-beta": (0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "qce-kappa": (1, 2, 3, 5, 10, 20, 40),
    "qce-zeta": (1, 1.5, 2, 4, 8, 16, 64),
    "qce-loop-growth": (1, 1.5, 2, 4, 16, 1e9),
    "qce-memory-weight": (0.25, 0.5, 1, 2, 4, 8),
}

# Plain exploration takes from a fraction of a second to minutes on these.
PROGRAMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("echo_bare.c", ("-DN=4", "-DL=4")),
    ("memspn.c", ("-DM=20",)),
    ("regexp.c", ("-DSIZE=8",)),
    ("rle_decode.c", ("-DSIZE=8",)),
    ("utf8_valid.c", ("-DSIZE=10",)),
    ("key_value.c", ("-DSIZE=6",)),
    ("tokens.c", ("-DSIZE=4",)),
    ("isbn.c", ("-DSIZE=9",)),
    ("brackets.c", ("-DSIZE=6",)),
    ("base64.c", ("-DSIZE=4",)),
    ("number_list.c", ("-DSIZE=6",)),
)
QUICK = 3

Setting = tuple[int, ...]
"""The rung of every ladder, in the order of the parameters climbed."""


@dataclass(frozen=True)
class Cost:
    """CPU seconds over all programs; ``bounded``: so much at least, the rest was not worth running."""

    seconds: float
    unfinished: int = 0
    bounded: bool = False

    def __str__(self) -> str:
        more = f", {self.unfinished} unfinished" if self.unfinished else ""
        return f"{'over ' if self.bounded else ''}{self.seconds:.2f} s{more}"


def known_parameters() -> list[str]:
    """Those of the ladders that the engine has a flag for."""
    names = settings_of(all_groups())
    return [p for p in LADDERS if p.replace("-", "_") in names]


def flags_of(parameters: Sequence[str], setting: Setting) -> tuple[str, ...]:
    flags: list[str] = []
    for parameter, rung in zip(parameters, setting, strict=True):
        flags += [f"--{parameter}", f"{LADDERS[parameter][rung]:g}"]
    return tuple(flags)


def default_setting(parameters: Sequence[str]) -> Setting:
    """The rungs next to the engine's defaults."""
    known = settings_of(all_groups())
    rungs = []
    for parameter in parameters:
        default = known[parameter.replace("-", "_")].default
        assert isinstance(default, int | float)
        ladder = LADDERS[parameter]
        rungs.append(min(range(len(ladder)), key=lambda i: abs(ladder[i] - default)))
    return tuple(rungs)


class Costs:
    """What settings cost; each is tried once, and only as far as it can still be the best."""

    def __init__(
        self,
        parameters: Sequence[str],
        programs: Sequence[tuple[str, tuple[str, ...]]],
        base: Sequence[str],
        cap: float,
    ) -> None:
        self.parameters = parameters
        self.programs = programs
        self.base = tuple(base)
        self.cap = cap
        self.tried: dict[Setting, Cost] = {}

    def __call__(self, setting: Setting, bound: float) -> Cost:
        known = self.tried.get(setting)
        if known is None or (known.bounded and known.seconds < bound):
            known = self.tried[setting] = self._run(setting, bound)
        return known

    def _run(self, setting: Setting, bound: float) -> Cost:
        total, unfinished = 0.0, 0
        flags = (*self.base, *flags_of(self.parameters, setting))
        for number, (file, defines) in enumerate(self.programs, 1):
            done = measure(file, defines, flags, cpu_limit=self.cap)
            finished = done.complete and not done.problem
            total += min(done.seconds, self.cap) if finished else 2 * self.cap
            unfinished += not finished
            if total > bound and number < len(self.programs):
                return Cost(total, unfinished, bounded=True)
        return Cost(total, unfinished)


def neighbours(parameters: Sequence[str], setting: Setting) -> list[Setting]:
    """One step up or down one ladder."""
    found: list[Setting] = []
    for i, parameter in enumerate(parameters):
        rungs = [r for r in (setting[i] - 1, setting[i] + 1) if 0 <= r < len(LADDERS[parameter])]
        found += [(*setting[:i], rung, *setting[i + 1 :]) for rung in rungs]
    return found


def climb(
    start: Setting,
    parameters: Sequence[str],
    costs: Callable[[Setting, float], Cost],
    rng: random.Random,
    gain: float,
    note: Callable[[Setting, Cost, bool], None],
) -> tuple[Setting, Cost]:
    """Take the first neighbour in a random order that is better by more than ``gain``, until none is."""
    here, cost = start, costs(start, float("inf"))
    note(here, cost, True)
    while True:
        near = neighbours(parameters, here)
        rng.shuffle(near)
        for candidate in near:
            found = costs(candidate, cost.seconds)
            better = not found.bounded and found.seconds < cost.seconds * (1 - gain)
            note(candidate, found, better)
            if better:
                here, cost = candidate, found
                break
        else:
            return here, cost


def shown(parameters: Sequence[str], setting: Setting) -> str:
    return " ".join(
        f"{p.removeprefix('qce-')}={LADDERS[p][rung]:g}" for p, rung in zip(parameters, setting, strict=True)
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.parameter_search", description=__doc__)
    parser.add_argument("--merge", default="qce", help="policy whose parameters are climbed (default qce)")
    parser.add_argument("--merging", default="static", help="static or dynamic (default static)")
    parser.add_argument(
        "--cap", type=float, default=20, metavar="S", help="CPU time for a program (default 20)"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only programs with TEXT in their name")
    parser.add_argument(
        "--parameter", action="append", choices=[p.removeprefix("qce-") for p in known_parameters()],
        help="climb only this one (repeatable; default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--gain", type=float, default=0.03, metavar="G", help="least gain that counts (default 0.03)"
    )
    parser.add_argument("--restarts", type=int, default=0, metavar="N", help="climbs from random places")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--quick", action="store_true", help=f"only the first {QUICK} programs")
    arguments = parser.parse_args(argv)
    parameters = [f"qce-{p}" for p in arguments.parameter] if arguments.parameter else known_parameters()
    programs = [p for p in PROGRAMS if arguments.only in p[0]][: QUICK if arguments.quick else None]
    if not programs:
        parser.error("no program left")
    base = ("--merge", arguments.merge, "--merging", arguments.merging)
    costs = Costs(parameters, programs, base, arguments.cap)
    rng = random.Random(arguments.seed)
    rows: list[tuple[object, ...]] = []

    def note(setting: Setting, cost: Cost, taken: bool) -> None:
        rows.append((shown(parameters, setting), str(cost), "taken" if taken else ""))
        tell(f"{shown(parameters, setting)}: {cost}{' (taken)' if taken else ''}")

    start = default_setting(parameters)
    best, least = climb(start, parameters, costs, rng, arguments.gain, note)
    for _ in range(arguments.restarts):
        place = tuple(rng.randrange(len(LADDERS[p])) for p in parameters)
        found, cost = climb(place, parameters, costs, rng, arguments.gain, note)
        if cost.seconds < least.seconds:
            best, least = found, cost
    print_table(("setting", "cost", ""), rows)
    print(f"defaults: {shown(parameters, start)}: {costs.tried[start]}")
    print(f"best of {len(costs.tried)}: {shown(parameters, best)}: {least}")
    print("flags: " + " ".join(flags_of(parameters, best)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
