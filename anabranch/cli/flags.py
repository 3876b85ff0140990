"""Flags and help of `anabranch run`, made from the declared settings."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from anabranch.cli.config import read_config
from anabranch.cli.program_input import INPUT_FLAGS, split_words
from anabranch.cli.settings import GROUPS, Option, RunSettings, SettingsError, default_text, options
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


class _Parser(argparse.ArgumentParser):
    """Complains in one line, by an exception."""

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


def _help_text(field_name: str, option: Option) -> str:
    default = default_text(field_name)
    text = option.help if isinstance(option.help, str) else option.help()
    return text.replace("%", "%%") + (f" (default: {default})" if default else "")


def _add_flag(group: argparse._ArgumentGroup, field_name: str, option: Option) -> None:
    names = ([option.short] if option.short else []) + [f"--{option.name}"]
    hidden = [f"--{alias}" for alias in option.aliases]
    common: dict[str, Any] = {"dest": field_name, "default": argparse.SUPPRESS}
    text = _help_text(field_name, option)
    if option.parse is None:
        group.add_argument(*names, action="store_const", const=True, help=text, **common)
        for alias in hidden:
            group.add_argument(alias, action="store_const", const=True, help=argparse.SUPPRESS, **common)
        # The opposite undoes what a settings file says.
        opposite = option.name.removeprefix("no-") if option.name.startswith("no-") else f"no-{option.name}"
        group.add_argument(
            f"--{opposite}", action="store_const", const=False, help=argparse.SUPPRESS, **common
        )
        return
    common |= {"action": "append" if option.repeat else "store", "metavar": option.metavar}
    group.add_argument(*names, help=text, **common)
    for alias in hidden:
        group.add_argument(alias, help=argparse.SUPPRESS, **common)


def build_parser(
    prog: str = "anabranch run",
    words: str = "FILE... [-- ARGUMENTS]",
    description: str = _DESCRIPTION,
    epilog: str = _EPILOG,
) -> argparse.ArgumentParser:
    """The parser of `anabranch run`, with the flags in their groups, or of another command that explores."""
    parser = _Parser(
        prog=prog,
        usage=f"{prog} [FLAGS] {words}",
        description=description,
        epilog=epilog,
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("inputs", nargs="*", metavar="FILE", help="C file, LLVM bitcode or LLVM text")
    groups = {name: parser.add_argument_group(name) for name in GROUPS}
    for field_name, option in options().items():
        _add_flag(groups[option.group], field_name, option)
    for flag, (values, text) in INPUT_FLAGS.items():
        # Shown in the help only: `split_words` takes these out, since their order counts.
        shown: dict[str, Any] = {"metavar": " ".join(values)} if values else {"action": "store_true"}
        groups["Input"].add_argument(f"--{flag}", help=text, default=argparse.SUPPRESS, **shown)
    display = groups["Display"]
    display.add_argument("--config", metavar="FILE", help="read settings from FILE instead of anabranch.toml")
    display.add_argument("-h", "--help", action="help", help="show this and end")
    return parser


def convert(field_name: str, option: Option, raw: Any, source: str) -> Any:
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
    return parse_settings(build_parser(), argv, directory)[0]


def parse_settings(
    parser: argparse.ArgumentParser, argv: Sequence[str], directory: Path | None = None
) -> tuple[RunSettings, dict[str, Any]]:
    """As `settings_from_args`, by a parser that may have flags of its own: these come as they were given."""
    own, words = split_words(argv)
    namespace, extras = parser.parse_known_intermixed_args(own)
    if extras:
        _reject_unknown(extras, parser)
    given = vars(namespace)
    values: dict[str, Any] = read_config(given.get("config"), directory if directory is not None else Path())
    for field_name, option in options().items():
        if field_name in given:
            values[field_name] = (f"--{option.name}", given[field_name])
    converted = {
        field_name: convert(field_name, option, values[field_name][1], values[field_name][0])
        for field_name, option in options().items()
        if field_name in values
    }
    if words:
        converted["program_args"] = (*given.get("program_args", ()), *words)
    inputs = tuple(Path(text) for text in given["inputs"])
    if not inputs:
        raise SettingsError("no program given: name a C file, for example anabranch run prog.c")
    settings = RunSettings(inputs=inputs, **converted)
    try:
        settings.program_input  # noqa: B018
    except ValueError as error:
        raise SettingsError(str(error)) from None
    return settings, given


def print_help() -> None:
    build_parser().print_help(sys.stdout)
