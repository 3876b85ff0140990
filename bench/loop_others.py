"""Programs that are not made of loops over one position: what `--loops` costs where it has little to bring.

    python -m bench.loop_others [NAME...] [--mode auto] [--times 3] [--seconds 30]

Reference subjects, parsers, and coreutils where they are built (`python -m bench.coreutils build`), merged in
pairs and with loops, in turns; the best CPU seconds of exploring of each. Exit code 1 if one is over 3% and
10 ms slower with loops.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.lib.coreutils import bitcode
from bench.lib.loop_modes import OLD, flags_of
from bench.lib.scaling import measure
from bench.lib.table import print_table
from bench.lib.work import tell
from bench.merging_coreutils import exhausted

SLOWER, NOISE = 1.03, 0.01  # of the time, and in seconds: what a run of 0.1 s differs by from the next

SUBJECTS: dict[str, tuple[str, ...]] = {
    "echo_bare": ("-DN=10", "-DL=10"),
    "regexp": ("-DSIZE=8",),
    "maze": (),
    "bubble": ("-DN=6",),
    "tokens": ("-DSIZE=4",),
    "key_value": ("-DSIZE=8",),
    "number_list": ("-DSIZE=7",),
    "rle_decode": ("-DSIZE=10",),
    "utf8_valid": ("-DSIZE=12",),
    "base64": ("-DSIZE=8",),
    "brackets": ("-DSIZE=8",),
    "isbn": ("-DSIZE=13",),
}
UTILITIES: dict[str, tuple[str, ...]] = {
    "cut": ("-b", "1-2", "--sym-stdin", "8"),
    "echo": ("--sym-args", "1", "2", "3"),
    "fold": ("--sym-stdin", "4"),
}


@dataclass
class Best:
    """The quickest of some runs."""

    seconds: float = float("inf")
    complete: bool = True
    states: int = 0
    paths: int = 0


def best(run: Callable[[Sequence[str]], Best], mode: str, found: Best) -> Best:
    again = run(("--merge", "qce", *flags_of(mode)))
    return again if again.seconds < found.seconds else found


def subject(name: str, defines: Sequence[str], seconds: float) -> Callable[[Sequence[str]], Best]:
    def run(flags: Sequence[str]) -> Best:
        done = measure(f"{name}.c", defines, flags, cpu_limit=seconds)
        return Best(done.seconds, done.complete, done.states, done.ends)

    return run


def utility(name: str, inputs: tuple[str, ...], seconds: float) -> Callable[[Sequence[str]], Best]:
    def run(flags: Sequence[str]) -> Best:
        done = exhausted(name, inputs, tuple(flags), seconds)
        return Best(done.seconds, done.complete, done.states, done.ends)

    return run


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.loop_others", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="these programs (default: all)")
    parser.add_argument("--mode", default="auto", metavar="MODE", help="mode of --loops (default auto)")
    parser.add_argument("--times", type=int, default=3, metavar="N", help="runs of each (default 3)")
    parser.add_argument("--seconds", type=float, default=30, metavar="S", help="CPU limit (default 30)")
    options = parser.parse_args(arguments)
    runs = {name: subject(name, defines, options.seconds) for name, defines in SUBJECTS.items()}
    runs |= {
        f"coreutils {name}": utility(name, inputs, options.seconds)
        for name, inputs in UTILITIES.items()
        if bitcode(name).exists()
    }
    rows, slower = [], 0
    for name, run in runs.items():
        if options.names and name.split()[-1] not in options.names:
            continue
        old, new = Best(), Best()
        for _ in range(options.times):
            old, new = best(run, OLD, old), best(run, options.mode, new)
        ratio = new.seconds / max(old.seconds, 1e-3)
        late = (ratio > SLOWER and new.seconds - old.seconds > NOISE) or (old.complete and not new.complete)
        slower += late
        rows.append(
            (name, f"{old.seconds:.3f}", f"{new.seconds:.3f}", f"{ratio:.2f}", old.states, new.states,
             old.paths, new.paths, "slower" if late else "")
        )  # fmt: skip
        tell(" ".join(map(str, rows[-1])))
    print_table(
        ("program", "in pairs, s", options.mode, "ratio", "states", "states", "paths", "paths", ""), rows
    )
    print(f"{len(rows)} programs, {slower} slower with loops by more than {SLOWER - 1:.0%}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
