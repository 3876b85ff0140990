"""All settings of a run: the groups that the packages declare, composed.

Flags, help, the settings file and the settings in `run.json` are made from the groups (`anabranch.options`).
Later sources win: defaults, `anabranch.toml` (or `--config FILE`), flags.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from anabranch.cli.program_input import parse_file, parse_variable, parse_words
from anabranch.explore.checks import MEMTRACK, compiled_in, expanded
from anabranch.explore.settings import (
    ErrorSettings,
    ExecutionSettings,
    LimitSettings,
    ReportSettings,
    SearchSettings,
    SolverSettings,
)
from anabranch.options import Setting, SettingsGroup, option, settings_of, switch
from anabranch.program_input import ProgramInput
from anabranch.reduce.settings import TECHNIQUE_SETTINGS
from anabranch.values import one_of, parse_define, parse_name

G = TypeVar("G", bound=SettingsGroup)

HEADINGS = (
    "Program",
    "Input",
    "Search",
    "Merging",
    "Equivalence",
    "Redundancy",
    "Limits",
    "Errors",
    "Solver",
    "Results",
    "Display",
    "Extensions",
)
"""The order of the help; other headings come behind these."""


class SettingsError(Exception):
    """A setting is wrong; the message is one line that says what to do."""


class BuildSettings(SettingsGroup, heading="Program"):
    """How the program is compiled and linked."""

    include_dirs: tuple[Path, ...] = option(
        (), "include-dir", "look for headers in DIR (repeatable)", Path,
        key="include_dirs", short="-I", metavar="DIR", repeat=True,
    )  # fmt: skip
    defines: tuple[str, ...] = option(
        (), "define", "define a macro (repeatable)", parse_define,
        key="defines", short="-D", metavar="NAME[=VALUE]", repeat=True,
    )  # fmt: skip
    compile_commands: Path | None = option(
        None, "compile-commands",
        "compile as FILE (compile_commands.json) says, with those of its other files that are needed", Path,
        metavar="FILE",
    )  # fmt: skip
    opt_level: int = option(
        1, "opt-level",
        "simplification before exploring: 0 none, 1 (and 2) keep scalar locals in registers; errors and "
        "paths are those of the source at every level",
        lambda text: int(one_of("0", "1", "2")(text)), short="-O", metavar="LEVEL",
    )  # fmt: skip
    entry: str | None = option(
        None, "entry", "function to start in (default: main, or LLVMFuzzerTestOneInput)",
        parse_name, metavar="FUNCTION", aliases=("entry-point",),
    )  # fmt: skip
    libc: str = option(
        "auto", "libc",
        "the C library: none (models of common functions only), musl (the real one), auto (musl if the "
        "program uses functions that have no model)", one_of("auto", "none", "musl"), metavar="WHICH",
    )  # fmt: skip
    emit_ir: Path | None = option(
        None, "emit-ir", "write the linked, simplified program as LLVM text to FILE", Path, metavar="FILE"
    )
    no_cache: bool = switch("no-cache", "compile anew, and do not keep the compiled program")


class InputSettings(SettingsGroup, heading="Input"):
    """What the program is given."""

    program_args: tuple[str, ...] = option(
        (), "program-args", "an argument of the program, as after -- (repeatable)", str,
        metavar="ARG", repeat=True,
    )  # fmt: skip
    program_name: str = option(
        "program", "program-name", "what the program finds in argv[0]", str, metavar="NAME"
    )
    files: tuple[tuple[Path, bytes], ...] = option(
        (), "file", "copy a file into the program's file system (repeatable)", parse_file,
        key="files", metavar="HOST[:GUEST]", repeat=True,
    )  # fmt: skip
    stdin: Path | None = option(
        None, "stdin", "what is in FILE is the program's standard input", Path, metavar="FILE"
    )
    env: tuple[tuple[bytes, bytes], ...] = option(
        (), "env", "set an environment variable (repeatable)", parse_variable,
        metavar="NAME=VALUE", repeat=True,
    )  # fmt: skip
    sym_file_size: str = option(
        "fixed", "sym-file-size",
        "symbolic files and standard input: fixed (as long as --sym-files and --sym-stdin say), symbolic (of"
        " any length up to that)",
        one_of("fixed", "symbolic"), metavar="WHAT",
    )  # fmt: skip
    free_metadata: bool = switch(
        "free-metadata", "metadata of symbolic files as free as KLEE's; such tests may not replay"
    )
    printable: bool = switch(
        "printable", "prefer printable characters in symbolic arguments of tests",
        aliases=("readable-posix-inputs",),
    )  # fmt: skip

    @property
    def program_input(self) -> ProgramInput:
        """All of it in one. Raises ValueError if the words for it are wrong."""
        words = parse_words(self.program_args)
        environment = (*self.env, *words.pop("environment"))  # type: ignore[misc]
        return ProgramInput(
            name=self.program_name.encode("utf-8", "surrogateescape"),
            environment=environment,
            files=self.files,
            stdin=self.stdin,
            sized_files=self.sym_file_size == "symbolic",
            free_metadata=self.free_metadata,
            printable=self.printable,
            **words,  # type: ignore[arg-type]
        )


class ResultSettings(SettingsGroup, heading="Results"):
    """Where results go, and what is done with them."""

    output_dir: Path | None = option(
        None, "output-dir", "write to DIR, which must not exist (default: anabranch-out-N)", Path,
        metavar="DIR",
    )  # fmt: skip
    replay: bool = switch(
        "replay", "run the tests natively at the end; exit with 1 if one does not end as predicted"
    )
    json: bool = switch("json", "print run.json on standard output at the end")
    sarif: Path | None = option(
        None, "sarif", "write the errors to FILE as SARIF 2.1.0, for code hosts and editors", Path,
        metavar="FILE",
    )  # fmt: skip


class PluginSettings(SettingsGroup, heading="Extensions"):
    """What a run uses beyond the package."""

    files: tuple[Path, ...] = option(
        (), "plugin",
        "import FILE.py, which registers search orders, merge policies, techniques, C functions or listeners"
        " (repeatable; docs/extending.md)", Path, key="plugins", metavar="FILE", repeat=True,
    )  # fmt: skip


class DisplaySettings(SettingsGroup, heading="Display"):
    """What is shown while it runs."""

    quiet: bool = switch("quiet", "print nothing but failures", short="-q")
    no_progress: bool = switch("no-progress", "no lines while it runs; the summary stays")


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The settings of `anabranch run`."""

    inputs: tuple[Path, ...] = ()
    build: BuildSettings = field(default_factory=BuildSettings)
    execution: ExecutionSettings = field(default_factory=ExecutionSettings)
    input: InputSettings = field(default_factory=InputSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    errors: ErrorSettings = field(default_factory=ErrorSettings)
    solver: SolverSettings = field(default_factory=SolverSettings)
    report: ReportSettings = field(default_factory=ReportSettings)
    results: ResultSettings = field(default_factory=ResultSettings)
    plugins: PluginSettings = field(default_factory=PluginSettings)
    display: DisplaySettings = field(default_factory=DisplaySettings)
    more: tuple[SettingsGroup, ...] = field(
        default_factory=lambda: tuple(kind() for kind in TECHNIQUE_SETTINGS)
    )
    """Groups of techniques, and of other commands than `run`, found by `group`."""

    @staticmethod
    def compose(
        groups: Iterable[type[SettingsGroup]], inputs: tuple[Path, ...], values: Mapping[str, Any]
    ) -> RunSettings:
        """Settings of the groups from values by key."""
        given: dict[type[SettingsGroup], dict[str, Any]] = {group: {} for group in groups}
        for key, setting in settings_of(given).items():
            if key in values:
                given[setting.group][setting.field] = values[key]
        own: dict[str, Any] = {name: kind(**given.pop(kind)) for name, kind in RUN_GROUPS.items()}
        return RunSettings(inputs=inputs, **own, more=tuple(kind(**found) for kind, found in given.items()))

    def group(self, kind: type[G]) -> G:
        """The group of that type among `more`, or its defaults."""
        return next((group for group in self.more if isinstance(group, kind)), kind())

    @property
    def program_input(self) -> ProgramInput:
        """What the program is given."""
        return self.input.program_input

    @property
    def simplification(self) -> int:
        """The level that the program is simplified at. Whether memory is lost is seen by who points to it:
        locals then stay in memory, where a call of `exit` finds those of all callers."""
        return 0 if MEMTRACK in expanded(self.errors.checks) else self.build.opt_level

    @property
    def sanitizers(self) -> tuple[str, ...]:
        """The checks that C files are compiled with, as clang names them."""
        return compiled_in(self.errors.chosen)

    def to_json(self) -> dict[str, Any]:
        """The settings as `run.json` keeps them: by key, without groups."""
        own = (getattr(self, name) for name in RUN_GROUPS)
        groups = {type(group): group for group in (*own, *self.more)}
        known = {
            key: _plain(getattr(groups[setting.group], setting.field))
            for key, setting in settings_of(groups).items()
        }
        return {"inputs": _plain(self.inputs), **known}


RUN_GROUPS: dict[str, type[SettingsGroup]] = {
    part.name: cast(type[SettingsGroup], part.default_factory)
    for part in dataclasses.fields(RunSettings)
    if isinstance(part.default_factory, type)
}
"""Field -> type of the groups that every run has."""


def all_groups(*more: type[SettingsGroup]) -> tuple[type[SettingsGroup], ...]:
    """The groups of a run, of all techniques that there are now, and those given."""
    return (*RUN_GROUPS.values(), *TECHNIQUE_SETTINGS, *more)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value) if isinstance(value, Path) else value


def default_text(setting: Setting) -> str:
    """The default as help shows it; empty if there is nothing to say."""
    value = setting.default
    if value is None or value is False or value is True or value == ():
        return ""
    if isinstance(value, tuple):
        return " + ".join(str(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
