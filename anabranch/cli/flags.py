"""Flags and help of `anabranch run`, made from the declared settings."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from anabranch.cli.config import read_config
from anabranch.cli.plugins import load_plugins
from anabranch.cli.program_input import split_words
from anabranch.cli.settings import HEADINGS, RunSettings, SettingsError, all_groups, default_text
from anabranch.options import Option, Setting, SettingsGroup, settings_of
from anabranch.program_input import INPUT_FLAGS
from anabranch.values import suggestion

_DESCRIPTION = """\
Explore all paths of a C program on symbolic inputs; write a test for each path worth one, and a report for
every error. Inputs are C files, LLVM bitcode (.bc) and LLVM text (.ll), several and mixed. After -- come the
arguments of the program; the --sym-... flags may also stand among them."""

_EPILOG = """\
Settings may also stand in the table [run] of anabranch.toml in the current directory, under the names of the
long flags:   max-time = "10min"   search = ["dfs"]   include-dir = ["include"]   tests = "all"

Exit codes: 0 the run came to its end (errors found are results; see --fail-on-error), 2 wrong usage or input,
3 internal problem, 130 stopped by Ctrl-C (results are written)."""


class SettingsParser(argparse.ArgumentParser):
    """A parser of the flags of some groups of settings. It complains in one line, by an exception."""

    def __init__(self, groups: Sequence[type[SettingsGroup]], **more: Any) -> None:
        super().__init__(**more, formatter_class=_Formatter, allow_abbrev=False, add_help=False)
        self.groups = groups
        try:
            self.declared = settings_of(groups)
        except ValueError as error:
            raise SettingsError(str(error)) from None

    def error(self, message: str) -> NoReturn:
        raise SettingsError(message)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        width = min(110, max(60, shutil.get_terminal_size((100, 24)).columns - 2))
        super().__init__(prog, max_help_position=32, width=width)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-O, --opt-level LEVEL`: the metavar once, not after each spelling."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        return f"{', '.join(action.option_strings)} {action.metavar}"


def _help_text(setting: Setting) -> str:
    text, default = setting.option.help, default_text(setting)
    text = text if isinstance(text, str) else text()
    return text.replace("%", "%%") + (f" (default: {default})" if default else "")


def _add_flag(group: argparse._ArgumentGroup, setting: Setting) -> None:
    option = setting.option
    common: dict[str, Any] = {"dest": option.key, "default": argparse.SUPPRESS}
    if option.parse is None:
        _add_switch(group, setting, common)
        return
    common |= {"action": "append" if option.repeat else "store", "metavar": option.metavar}
    names = ([option.short] if option.short else []) + [f"--{option.name}"]
    group.add_argument(*names, help=_help_text(setting), **common)
    for alias in option.aliases:
        group.add_argument(f"--{alias}", help=argparse.SUPPRESS, **common)


def _add_switch(group: argparse._ArgumentGroup, setting: Setting, common: dict[str, Any]) -> None:
    """The flag that changes the default, and its opposite, which undoes what a settings file says."""
    option, name = setting.option, setting.option.name
    opposite = name.removeprefix("no-") if name.startswith("no-") else f"no-{name}"
    shown, hidden = (opposite, name) if setting.default else (name, opposite)
    names = ([option.short] if option.short else []) + [f"--{shown}"]
    common["action"] = "store_const"
    group.add_argument(*names, const=not setting.default, help=_help_text(setting), **common)
    for alias in option.aliases:
        group.add_argument(f"--{alias}", const=not setting.default, help=argparse.SUPPRESS, **common)
    group.add_argument(f"--{hidden}", const=setting.default, help=argparse.SUPPRESS, **common)


def build_parser(
    prog: str = "anabranch run",
    words: str = "FILE... [-- ARGUMENTS]",
    description: str = _DESCRIPTION,
    epilog: str = _EPILOG,
    more: Sequence[type[SettingsGroup]] = (),
) -> SettingsParser:
    """The parser of `anabranch run`, or of another command that has `more` groups of settings."""
    parser = SettingsParser(
        all_groups(*more),
        prog=prog,
        usage=f"{prog} [FLAGS] {words}",
        description=description,
        epilog=epilog,
    )
    parser.add_argument("inputs", nargs="*", metavar="FILE", help="C file, LLVM bitcode or LLVM text")
    declared = parser.declared.values()
    headings = dict.fromkeys((*HEADINGS, *(setting.heading for setting in declared)))
    groups = {name: parser.add_argument_group(name) for name in headings}
    # The settings of other groups come last under a heading.
    for setting in sorted(declared, key=lambda setting: bool(setting.option.heading)):
        try:
            _add_flag(groups[setting.heading], setting)
        except argparse.ArgumentError as error:  # another spelling of a flag that there is already
            raise SettingsError(str(error)) from None
    for flag, (values, text) in INPUT_FLAGS.items():
        # Shown in the help only: `split_words` takes these out, since their order counts.
        shown: dict[str, Any] = {"metavar": " ".join(values)} if values else {"action": "store_true"}
        groups["Input"].add_argument(f"--{flag}", help=text, default=argparse.SUPPRESS, **shown)
    display = groups["Display"]
    display.add_argument("--config", metavar="FILE", help="read settings from FILE instead of anabranch.toml")
    display.add_argument("-h", "--help", action="help", help="show this and end")
    return parser


def _convert(option: Option, source: str, raw: Any) -> Any:
    """The value of a setting from text (a list of texts if it repeats) or a bool."""
    if option.parse is None:
        return bool(raw)
    try:
        if option.repeat:
            return tuple(option.parse(text) for text in raw)
        return option.parse(raw)
    except ValueError as error:
        raise SettingsError(f"{source}: {error}") from None


def _reject_unknown(extras: Sequence[str], parser: argparse.ArgumentParser) -> None:
    known = [name for name in parser._option_string_actions if name.startswith("--")]
    flag = extras[0].split("=")[0]
    raise SettingsError(f"unknown flag {flag}{suggestion(flag, known)}")


def settings_from_args(argv: Sequence[str], directory: Path | None = None) -> RunSettings:
    """Settings from flags over those of a settings file in `directory` (default: the current one)."""
    load_plugins(argv, directory if directory is not None else Path())
    return parse_settings(build_parser(), argv, directory)


def parse_settings(parser: SettingsParser, argv: Sequence[str], directory: Path | None = None) -> RunSettings:
    """As `settings_from_args`, by a parser that may have more groups of settings."""
    own, words = split_words(argv)
    namespace, extras = parser.parse_known_intermixed_args(own)
    if extras:
        _reject_unknown(extras, parser)
    given = vars(namespace)
    declared = parser.declared
    values = read_config(given.get("config"), directory if directory is not None else Path(), declared)
    for key, setting in declared.items():
        if key in given:
            values[key] = (f"--{setting.option.name}", given[key])
    converted = {key: _convert(declared[key].option, *value) for key, value in values.items()}
    if words:
        converted["program_args"] = (*given.get("program_args", ()), *words)
    inputs = tuple(Path(text) for text in given["inputs"])
    if not inputs:
        raise SettingsError("no program given: name a C file, for example anabranch run prog.c")
    settings = RunSettings.compose(parser.groups, inputs, converted)
    try:
        settings.program_input  # noqa: B018
    except ValueError as error:
        raise SettingsError(str(error)) from None
    return settings


def print_help(argv: Sequence[str]) -> None:
    """With the flags and names that plugins add."""
    load_plugins(argv, Path())
    build_parser().print_help(sys.stdout)
