"""The ways of merging loops that this engine's `anabranch run --loops` knows."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bench.lib.engine import call_engine

MODES = ("auto", "rounds", "quantified", "summaries", "off")
OLD = "off"
"""Merging in pairs only."""
HELP_SECONDS = 60.0


@cache
def help_text() -> str:
    with tempfile.TemporaryDirectory(prefix="anabranch-help-") as scratch:
        return call_engine(["run", "--help"], Path(scratch), HELP_SECONDS).stdout


def modes_in(text: str) -> tuple[str, ...]:
    """The modes that a help text tells of; none without the flag."""
    found = re.search(r"^ +--loops\b(.*?)(?=^ +--|^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        return ()
    words = set(re.findall(r"[a-z]+", found[1]))
    return tuple(mode for mode in MODES if mode in words)


def known_modes() -> tuple[str, ...]:
    return modes_in(help_text())


def knows_flag(flag: str) -> bool:
    return re.search(rf"^ +{re.escape(flag)}\b", help_text(), re.MULTILINE) is not None


def flags_of(mode: str | None) -> tuple[str, ...]:
    """The flags of a mode; none where the engine has no such flag, and merges in pairs only."""
    return ("--loops", mode) if mode is not None else ()


def mode_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mode", action="append", choices=MODES, metavar="MODE",
        help="only these modes of --loops (repeatable; default: all that `anabranch run` knows)",
    )  # fmt: skip


def chosen_modes(asked: Sequence[str] | None) -> tuple[str | None, ...]:
    """What was asked for, else every mode that the engine knows, else only its merging in pairs."""
    return tuple(asked or known_modes()) or (None,)
