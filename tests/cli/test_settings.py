"""Flags, the settings file and the settings in results are the same thing in three spellings."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from anabranch.cli.flags import build_parser, settings_from_args
from anabranch.cli.settings import HEADINGS, RunSettings, SettingsError, all_groups
from anabranch.explore.settings import LimitSettings
from anabranch.options import SettingsGroup, option, settings_of, switch
from anabranch.program_input import Argument, ProgramInput
from anabranch.reduce.settings import TECHNIQUE_SETTINGS
from anabranch.values import at_least

FLAGS = [
    "--libc",
    "musl",
    "--uninitialised",
    "zero",
    "--externals",
    "fresh",
    "--summaries",
    "known.toml",
    "--depth",
    "2",
    "--capacity",
    "7",
    "--sym-file-size",
    "symbolic",
    "--buffer-size",
    "9",
    "--alias",
    "--failing-allocations",
    "--target",
    "src/a.c:12",
    "-I",
    "inc",
    "--include-dir=inc2",
    "-D",
    "A",
    "-DB=2",
    "-O2",
    "--entry",
    "start",
    "--max-len",
    "5",
    "--emit-ir",
    "o.ll",
    "--interpret",
    "--stdin",
    "in.txt",
    "--no-cache",
    "--search",
    "dfs",
    "--search=nurs:md2u",
    "--batch-forks",
    "3",
    "--batch-instructions",
    "500",
    "--goal",
    "bugs",
    "--merge",
    "qce",
    "--merging",
    "dynamic",
    "--qce-alpha",
    "0.25",
    "--qce-beta",
    "0.75",
    "--qce-kappa",
    "4",
    "--qce-zeta",
    "3",
    "--loops",
    "quantified",
    "--merge-report",
    "--verify-reductions",
    "--count-paths",
    "--zeq",
    "exact",
    "--zeq-observe",
    "function",
    "--zeq-wait",
    "77",
    "--zeq-report",
    "--redundancy",
    "on",
    "--cover",
    "a.c",
    "--no-keep-errors",
    "--no-redundancy-joins",
    "--strings",
    "whole",
    "--string-limit",
    "17",
    "--seed",
    "9",
    "--race",
    "2",
    "--max-time",
    "1h10min",
    "--max-memory",
    "2GB",
    "--max-instructions",
    "1000",
    "--max-forks",
    "7",
    "--max-depth",
    "8",
    "--max-tests",
    "2",
    "--max-solver-time",
    "500ms",
    "--max-stack-frames",
    "10",
    "--check",
    "overflow",
    "--check",
    "leak",
    "--no-check",
    "bounds",
    "--no-check",
    "vla-bound",
    "--all-errors",
    "--silent-assume",
    "--stop-on-error",
    "--fail-on-error",
    "--solver",
    "z3",
    "--solver-config",
    "check",
    "--check-solver",
    "--log-queries",
    "--tests",
    "all",
    "--output-dir",
    "out",
    "--write-conditions",
    "--write-exec-tree",
    "--replay",
    "--sarif",
    "errors.sarif",
    "--compile-commands",
    "cc.json",
    "--json",
    "--quiet",
    "--no-progress",
    "--program-args=-n",
    "--program-name",
    "tool",
    "--file",
    "x.txt:/etc/x",
    "--env",
    "A=b=c",
    "--free-metadata",
    "--printable",
]
TOML = """
[run]
libc = "musl"
externals = "fresh"
uninitialised = "zero"
summaries = ["known.toml"]
depth = 2
buffer-size = 9
capacity = 7
sym-file-size = "symbolic"
alias = true
failing-allocations = true
target = ["src/a.c:12"]
include-dir = ["inc", "inc2"]
define = ["A", "B=2"]
opt-level = 2
entry = "start"
interpret = true
stdin = "in.txt"
max-len = 5
emit-ir = "o.ll"
no-cache = true
search = ["dfs", "nurs:md2u"]
batch-forks = 3
batch_instructions = 500
goal = "bugs"
merge = "qce"
merging = "dynamic"
qce-alpha = 0.25
qce-beta = 0.75
qce-kappa = 4
qce-zeta = 3
loops = "quantified"
merge-report = true
verify-reductions = true
count-paths = true
zeq = "exact"
zeq-observe = "function"
zeq-wait = 77
zeq-report = true
redundancy = "on"
cover = ["a.c"]
keep-errors = false
redundancy-joins = false
strings = "whole"
string-limit = 17
seed = 9
race = 2
max-time = "1h10min"
max-memory = "2GB"
max-instructions = 1000
max-forks = 7
max-depth = 8
max-tests = 2
max-solver-time = 0.5
max-stack-frames = 10
check = ["overflow", "leak"]
no-check = ["bounds", "vla-bound"]
all-errors = true
silent-assume = true
stop-on-error = true
fail-on-error = true
solver = "z3"
solver-config = "check"
check-solver = true
log-queries = true
tests = "all"
output-dir = "out"
write-conditions = true
write-exec-tree = true
replay = true
sarif = "errors.sarif"
compile-commands = "cc.json"
json = true
quiet = true
no-progress = true
program-args = ["-n"]
program-name = "tool"
file = ["x.txt:/etc/x"]
env = ["A=b=c"]
free-metadata = true
printable = true
"""

# What readers of run.json find, however the settings are grouped here.
KEYS = """
inputs include_dirs defines compile_commands opt_level entry libc externals uninitialised summaries
failing_allocations targets
depth buffer_size capacity alias max_len emit_ir interpret no_cache program_args program_name files stdin env
sym_file_size free_metadata printable search batch_forks batch_instructions strings string_limit seed goal
merge merging loops qce_alpha qce_beta qce_kappa qce_zeta merge_report verify_reductions count_paths zeq
zeq_observe zeq_wait zeq_report redundancy cover keep_errors redundancy_joins
max_time max_memory max_instructions max_forks max_depth max_tests
max_solver_time max_stack_frames checks no_checks all_errors silent_assume stop_on_error fail_on_error
solver solver_config race
check_solver log_queries tests output_dir write_conditions write_exec_tree replay json sarif plugins
quiet no_progress
"""


def test_defaults() -> None:
    settings = settings_from_args(["a.c"])
    assert settings == RunSettings(inputs=(Path("a.c"),))
    assert settings.search.orders == ("random-path", "places", "rounds")
    build = settings.build
    assert (build.opt_level, build.entry, settings.report.tests) == (1, None, "covering")
    assert (settings.limits.time, settings.limits.stack_frames) == (None, 8192)


def test_file_and_flags_agree_on_every_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    by_flags = settings_from_args(["a.c", *FLAGS])
    (tmp_path / "anabranch.toml").write_text(TOML)
    by_file = settings_from_args(["a.c"])
    assert by_file == by_flags
    default = RunSettings(inputs=(Path("a.c"),)).to_json()
    same = [key for key, value in by_flags.to_json().items() if value == default[key]]
    # A plugin would have to exist: tests of its own have one.
    assert same == ["inputs", "plugins"], "a setting that the test does not set"


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "anabranch.toml").write_text(
        '[run]\nseed = 4\nquiet = true\nno-cache = true\nsearch = "dfs"\n'
    )
    settings = settings_from_args(["a.c", "--seed", "5", "--no-quiet", "--cache"], tmp_path)
    assert (settings.search.seed, settings.search.orders) == (5, ("dfs",))
    assert (settings.display.quiet, settings.build.no_cache) == (False, False)


def test_another_file_and_paths_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "anabranch.toml").write_text("[run]\nseed = 4\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.toml").write_text('[run]\ninclude-dir = "inc"\n')
    settings = settings_from_args(["a.c", "--config", "sub/other.toml"])
    assert settings.search.seed == 0
    assert settings.build.include_dirs == (Path("sub/inc"),)


def test_inputs_may_stand_between_flags() -> None:
    settings = settings_from_args(["a.c", "--seed", "1", "b.bc", "-O0", "c.ll"])
    assert settings.inputs == (Path("a.c"), Path("b.bc"), Path("c.ll"))


def test_spellings_known_from_klee() -> None:
    settings = settings_from_args(["a.c", "--entry-point=f", "--emit-all-errors", "--silent-klee-assume"])
    errors = settings.errors
    assert (settings.build.entry, errors.all_errors, errors.silent_assume) == ("f", True, True)


def test_settings_are_json() -> None:
    settings = settings_from_args(["a.c", *FLAGS])
    document = json.loads(json.dumps(settings.to_json()))
    assert document.keys() == set(KEYS.split())
    assert document["include_dirs"] == ["inc", "inc2"]
    assert document["max_time"] == 4200.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "no program given"),
        ("a.c --serch dfs", "unknown flag --serch; did you mean --search?"),
        ("a.c --nonsense=3", "unknown flag --nonsense"),
        ("a.c -Z", "unknown flag -Z"),
        ("a.c --search dsf", "--search: 'dsf' is unknown; did you mean dfs?"),
        ("a.c --max-forks 0", "--max-forks: must be a whole number from 1"),
        ("a.c --max-forks -1", "leave it out for no limit"),
        ("a.c --max-depth=-1", "--max-depth: must be a whole number from 1"),
        ("a.c --max-tests many", "--max-tests: 'many' is not a whole number"),
        ("a.c --max-time 0", "--max-time: must be more than 0"),
        ("a.c --max-time 5parsecs", "--max-time: '5parsecs' is not a time"),
        ("a.c --max-memory 0", "--max-memory: must be at least 1 MB"),
        ("a.c --max-stack-frames 0", "--max-stack-frames: must be a whole number from 1"),
        ("a.c --seed -4", "--seed: must be a whole number from 0"),
        ("a.c --tests some", "--tests: 'some' is unknown; choose from all, covering, errors, none"),
        ("a.c --tests", "--tests: expected one argument"),
        ("a.c --check overflows", "did you mean overflow?"),
        ("a.c -O3", "--opt-level: '3' is unknown; choose from 0, 1, 2"),
        ("a.c -D 1x", "--define: '1x' is not a definition"),
        ("a.c --quiet=3", "--quiet"),
        ("a.c --config absent.toml", "cannot read absent.toml"),
    ],
)
def test_wrong_flags(arguments: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from_args(arguments.split())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[run]\nmax-tme = 3", "unknown setting 'max-tme'; did you mean max-time?"),
        ("[run]\nquiet = 1", "quiet: write true or false"),
        ("[run]\nseed = true", "seed: write a text or a number"),
        ("[run]\nseed = [1]", "seed: write a text or a number"),
        ("[run]\nmax-forks = 0", "max-forks: must be a whole number from 1"),
        ("[run]\nsearch = ['dfs', 'x']", "search: 'x' is unknown"),
        ("seed = 3", "'seed' stands outside the table [run]"),
        ("run = 3", "run must be a table"),
        ("[run", "is not valid TOML"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "anabranch.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        settings_from_args(["a.c"], tmp_path)
    assert message in str(caught.value)
    assert "anabranch.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_help_names_every_flag_in_its_group() -> None:
    text = build_parser().format_help()
    for setting in settings_of(all_groups()).values():
        flag = f"--{setting.option.name}"
        assert flag in text or flag.replace("--", "--no-", 1) in text
        assert setting.heading in HEADINGS
    positions = [text.index(f"\n{heading}:") for heading in HEADINGS]
    assert positions == sorted(positions)
    assert "(default: random-path + places + rounds)" in " ".join(text.split())
    assert "%" not in text


def test_a_technique_brings_its_own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class HasteSettings(SettingsGroup, heading="Haste"):
        speed: int = option(3, "haste", "how fast", at_least(1), metavar="N")
        quietly: bool = switch("haste-report", "tell about it", default=True)

    class Unknown(HasteSettings, heading="Nowhere"):
        pass

    monkeypatch.setattr("anabranch.cli.settings.TECHNIQUE_SETTINGS", [*TECHNIQUE_SETTINGS, HasteSettings])
    text = build_parser().format_help()
    assert text.index("\nHaste:") < text.index("--haste N")
    assert "--no-haste-report " in text and "--haste-report " not in text
    settings = settings_from_args(["a.c", "--haste", "7", "--no-haste-report"])
    assert settings.group(HasteSettings) == HasteSettings(speed=7, quietly=False)
    assert (settings.to_json()["haste"], settings.to_json()["haste_report"]) == (7, False)
    (tmp_path / "anabranch.toml").write_text("[run]\nhaste = 5\nhaste-report = false\n")
    settings = settings_from_args(["a.c", "--haste-report"], tmp_path)
    assert settings.group(HasteSettings) == HasteSettings(speed=5)
    assert settings.group(Unknown) == Unknown()
    with pytest.raises(SettingsError, match="--haste: must be a whole number from 1"):
        settings_from_args(["a.c", "--haste", "0"])


def test_two_settings_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Twice(SettingsGroup, heading="Haste"):
        goal: int = option(3, "goal", "another goal", at_least(1))

    class Alias(SettingsGroup, heading="Haste"):
        entry: int = option(3, "entry-point", "an alias of --entry", at_least(1))

    for group, message in ((Twice, "two settings are called goal"), (Alias, "--entry-point")):
        monkeypatch.setattr("anabranch.cli.settings.TECHNIQUE_SETTINGS", [group])
        with pytest.raises(SettingsError, match=message):
            settings_from_args(["a.c"])


def test_groups_are_frozen_values() -> None:
    limits = LimitSettings(time=3.0)
    assert limits == LimitSettings(time=3.0) != LimitSettings()
    assert hash(limits) == hash(dataclasses.replace(LimitSettings(), time=3.0))
    assert "time=3.0" in repr(limits)
    with pytest.raises(dataclasses.FrozenInstanceError):
        limits.time = 4.0  # type: ignore[misc]
    with pytest.raises(TypeError, match="LimitSettings has no field tme"):
        LimitSettings(tme=3.0)  # type: ignore[call-arg]


def given(*words: str) -> ProgramInput:
    return settings_from_args(["a.c", *words]).program_input


def test_input_flags_keep_their_order_and_may_stand_after_the_dashes() -> None:
    before = given("--sym-arg", "3", "--sym-args", "0", "2", "4", "--", "-n", "x")
    assert before.arguments == (
        Argument(None, 3), Argument(None, 4, 0, 2), Argument(b"-n"), Argument(b"x")
    )  # fmt: skip
    after = given(
        "--", "-n", "-sym-arg", "3", "x", "--sym-files", "2", "8", "-sym-stdin", "5", "--sym-stdout"
    )
    assert after.arguments == (Argument(b"-n"), Argument(None, 3), Argument(b"x"))
    assert (after.symbolic_files, after.symbolic_stdin, after.symbolic_stdout) == ((2, 8), 5, True)
    assert given("--sym-arg=7").arguments == (Argument(None, 7),)
    assert given("--max-fail", "2").max_fail == 2
    assert given("--", "--fd-fail").max_fail == 1
    assert given("--sym-env", "PATH", "4", "--env", "A=1").environment == ((b"A", b"1"), (b"PATH", 4))
    assert given("--file", "d/x.txt").files == ((Path("d/x.txt"), b"x.txt"),)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sym-arg"], "wants N"),
        (["--sym-args", "0", "1"], "wants MIN MAX N"),
        (["--sym-args", "2", "1", "3"], "more than MAX"),
        (["--sym-arg", "x"], "not a whole number"),
        (["--sym-files", "30", "3"], "at most 26"),
        (["--sym-stdin", "-1"], "must be from 0"),
        (["--env", "A"], "NAME=VALUE"),
        (["--file", ":x"], "HOST"),
        (["--sym-env", "A=B", "3"], "name of a variable"),
    ],
)
def test_wrong_input_flags_say_what_is_wrong(words: list[str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        settings_from_args(["a.c", *words])
