"""The command `anabranch tune`: configurations of the decision procedure, and the search for better ones."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.cli.codes import OK, CommandError
from anabranch.cli.wording import clock, count
from anabranch.values import parse_time

if TYPE_CHECKING:
    from anabranch.solver.config import SolverConfig
    from anabranch.tune.instances import Instance
    from anabranch.tune.tuning import Tuning

_DESCRIPTION = """\
Find out how the queries of your programs are decided quickest. Log queries first, of at least two programs
(anabranch run --log-queries, anabranch check --log-queries DIR); tune looks for a configuration of the
decision procedure that is quick on half of the programs, and tells what it brings on the others."""
_EPILOG = """\
The directory of --output-dir gets config.toml (for anabranch run --solver-config), sweep.txt, table.txt,
scatter.svg and log.jsonl. The same command again goes on where the log ends; with a larger --budget, it
searches longer.

  anabranch run --log-queries --output-dir logs/a a.c
  anabranch run --log-queries --output-dir logs/b b.c
  anabranch tune --corpus logs --budget 10min --output-dir tuned
  anabranch run --solver-config tuned/config.toml a.c"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise CommandError(f"tune: {message} (see anabranch tune --help)")


def _time(text: str) -> float:
    try:
        return parse_time(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and up to 1")
    return share


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="anabranch tune",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    what = parser.add_argument_group("what to do")
    what.add_argument(
        "--show",
        nargs="?",
        const="default",
        metavar="CONFIG",
        help="print all parameters with their values in CONFIG (a file or a name), domains and meanings",
    )
    what.add_argument(
        "--corpus", action="append", type=Path, metavar="DIR", help="queries that were logged (repeatable)"
    )
    what.add_argument(
        "--test-corpus",
        action="append",
        type=Path,
        metavar="DIR",
        help="queries of the programs to test on (default: half of the programs of --corpus)",
    )
    what.add_argument(
        "--sweep", action="store_true", help="only tell what each parameter does by itself, and the noise"
    )
    what.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="search, and write what was found to DIR"
    )
    what.add_argument("--smtlib", type=Path, metavar="DIR", help="write the queries to DIR as SMT-LIB")
    what.add_argument(
        "--features", type=Path, metavar="FILE", help="write what the queries look like, as CSV"
    )
    how = parser.add_argument_group("the search")
    how.add_argument(
        "--budget", type=_time, default=600.0, metavar="TIME", help="CPU time of the search (default: 10min)"
    )
    how.add_argument(
        "--cutoff", type=_time, default=5.0, metavar="TIME", help="CPU time of an instance (default: 5s)"
    )
    how.add_argument(
        "--slowest",
        type=_share,
        default=1.0,
        metavar="SHARE",
        help="only the slowest part of each program's instances, when they were logged: 0.1 (default: all)",
    )
    how.add_argument(
        "--length",
        type=int,
        metavar="N",
        help="queries in a row that are one instance (default: 100, and in a check those of a condition)",
    )
    how.add_argument(
        "--start",
        metavar="CONFIG",
        help="where the search begins, and what it is compared with (default: what such runs use)",
    )
    how.add_argument(
        "--fix",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="give a parameter this value and do not tune it (repeatable): solver=spear",
    )
    how.add_argument(
        "--method", choices=("paramils", "smac"), default="paramils", help="smac: pip install anabranch[smac]"
    )
    how.add_argument(
        "--all-parameters",
        action="store_true",
        help="search over all parameters, without finding out first which matter",
    )
    how.add_argument(
        "--repetitions", type=int, default=3, metavar="N", help="of runs that are compared (default: 3)"
    )
    how.add_argument("--seed", type=int, default=1, metavar="N")
    how.add_argument("-q", "--quiet", action="store_true", help="only the table")
    return parser


def _fixed(start: SolverConfig, words: Sequence[str]) -> tuple[SolverConfig, list[str]]:
    """The start with some parameters set, and their names."""
    from anabranch.solver.config import PARAMETERS, ConfigError

    names = []
    for word in words:
        name, _, text = word.partition("=")
        if name not in PARAMETERS:
            raise ConfigError(f"--fix: there is no parameter {name!r} (anabranch tune --show lists them)")
        domain = PARAMETERS[name].domain
        known = {str(v).lower() if isinstance(v, bool) else str(v): v for v in domain}
        if text not in known:
            raise ConfigError(f"--fix {name}: {text!r} is not one of {', '.join(known)}")
        start = start.replaced(name, known[text])
        names.append(name)
    return start, names


def _start(given: str | None, instances: Sequence[Instance]) -> SolverConfig:
    from anabranch.solver.config import PRESETS, read_config

    if given is not None:
        return read_config(given)
    return PRESETS["check" if all(i.kind == "check" for i in instances) else "default"]


def _search(arguments: argparse.Namespace) -> int:
    from anabranch import expr
    from anabranch.tune.instances import NoInstances, load, slowest, split
    from anabranch.tune.measure import Runs, Solver
    from anabranch.tune.tuning import Tuning, TuningSettings

    expr.reset()  # nodes of before may have terms of another solver
    training = slowest(load(arguments.corpus, arguments.length), arguments.slowest)
    if not training:
        raise NoInstances(f"no queries in {', '.join(map(str, arguments.corpus))}")
    if arguments.test_corpus:
        test = slowest(load(arguments.test_corpus, arguments.length), arguments.slowest)
    else:
        training, test = split(training, arguments.seed)
    start, fixed = _fixed(_start(arguments.start, training), arguments.fix)
    settings = TuningSettings(
        arguments.budget,
        arguments.cutoff,
        arguments.repetitions,
        arguments.seed,
        arguments.method,
        arguments.all_parameters,
    )
    about = {
        "training": [i.name for i in training],
        "test": [i.name for i in test],
        "start": dict(start.changed),
        "fixed": fixed,
        "cutoff": arguments.cutoff,
        "seed": arguments.seed,
        "method": arguments.method,
        "all": arguments.all_parameters,
    }
    directory: Path = arguments.output_dir
    runs = Runs(Solver(), directory / "log.jsonl", about)
    say = _quiet if arguments.quiet else _say
    programs = {i.program for i in training}, {i.program for i in test}
    say(f"training: {count(len(training), 'instance')} of {count(len(programs[0]), 'program')}; "
        f"test: {count(len(test), 'instance')} of {count(len(programs[1]), 'program')}")  # fmt: skip
    tuning = Tuning(runs, training, start, fixed, settings, say)
    return _tuned(tuning, test, arguments, say)


def _tuned(
    tuning: Tuning, test: Sequence[Instance], arguments: argparse.Namespace, say: Callable[[str], None]
) -> int:
    """The steps of a session, and what is written about each."""
    from anabranch.tune import sweep
    from anabranch.tune.result import scatter, table

    directory, runs = arguments.output_dir, tuning.runs
    effects = None
    if not tuning.settings.everything:
        effects = tuning.sweep()
        text = sweep.table(effects)
        (directory / "sweep.txt").write_text(text + "\n", "utf-8")
        if arguments.sweep:
            print(text)
            return OK
        say(f"{clock(runs.elapsed)} | wrote {directory / 'sweep.txt'}")

    def improved(search: Any, config: SolverConfig) -> None:
        n = search.count(config)
        line = f"{clock(runs.elapsed)} | {count(n, 'instance')} | {1000 * search.total(config, n) / n:.2f} ms"
        if search.count(tuning.start) >= n:
            line += f", default {1000 * search.total(tuning.start, n) / n:.2f} ms"
        say(f"{line} | {count(len(config.changed), 'parameter')} not at the default")

    tuning.on_improvement = improved
    incumbents = tuning.search(effects)
    best, gain = tuning.accepted(incumbents)
    say(f"{clock(runs.elapsed)} | {count(runs.made, 'run')} now, {count(len(incumbents), 'improvement')}")
    if gain is not None:
        kept = "" if best != tuning.start else ", not outside the noise: the default stays"
        say(f"the best of them on {_programs(tuning.validation)}: {gain}{kept}")
    (directory / "config.toml").write_text(best.to_toml(), "utf-8")
    sets = tuning.tables(best, test)
    text = table(sets, "default")
    (directory / "table.txt").write_text(text + "\n", "utf-8")
    (directory / "scatter.svg").write_text(
        scatter(sets["test"]["default"], sets["test"]["tuned"], "default", "tuned"), "utf-8"
    )
    print(text)
    say(f"tuned: {best}\nwrote {directory / 'config.toml'}")
    return OK


def _programs(instances: Sequence[Instance]) -> str:
    names = sorted({instance.program for instance in instances})
    return ", ".join(names) if len(names) < 5 else count(len(names), "program")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _quiet(text: str) -> None:
    """Says nothing."""


def _export(arguments: argparse.Namespace) -> int:
    """The queries of a corpus in other forms."""
    from anabranch.expr import to_smtlib
    from anabranch.solver.corpus import corpus_files, described, read_corpus

    rows: list[dict[str, Any]] = []
    number = 0
    for path in corpus_files(arguments.corpus):
        for query in read_corpus(path):
            number += 1
            if arguments.features is not None:
                rows.append(described(query))
            if arguments.smtlib is not None:
                arguments.smtlib.mkdir(parents=True, exist_ok=True)
                comment = f"{path}, query {query.number}, {query.solver}, {query.seconds:.6f} s"
                text = to_smtlib(query.constraints, query.answer, comment)
                (arguments.smtlib / f"query{number:06d}.smt2").write_text(text, "utf-8")
    if rows:
        with arguments.features.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    print(f"{count(number, 'query', 'queries')}")
    return OK


def _show(place: str) -> int:
    from anabranch.solver.config import PARAMETERS, read_config, shown

    config = read_config(place)
    print(shown(config))
    print(f"\n{len(PARAMETERS)} parameters; {len(config.changed)} differ from the default (*).")
    return OK


def _run(arguments: argparse.Namespace) -> int:
    if arguments.show is not None:
        return _show(arguments.show)
    if not arguments.corpus:
        raise CommandError("tune: name the queries by --corpus DIR, or --show (see anabranch tune --help)")
    if arguments.smtlib is not None or arguments.features is not None:
        return _export(arguments)
    if arguments.output_dir is None:
        raise CommandError("tune: name the directory for the result by --output-dir DIR")
    return _search(arguments)


def main(argv: Sequence[str]) -> int:
    parser = _parser()
    if "-h" in argv or "--help" in argv:
        parser.print_help(sys.stdout)
        return OK
    arguments = parser.parse_args(list(argv))
    from anabranch.solver.config import ConfigError
    from anabranch.solver.corpus import CorpusError
    from anabranch.tune.instances import NoInstances
    from anabranch.tune.measure import LogError

    try:
        return _run(arguments)
    except (ConfigError, CorpusError, NoInstances, LogError) as error:
        raise CommandError(f"tune: {error}") from None
