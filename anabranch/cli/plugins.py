"""`--plugin FILE.py`: imported before flags are parsed, so that what it registers can be asked for."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.cli.config import configured_plugins
from anabranch.cli.settings import SettingsError

_loaded: set[Path] = set()


def load_plugins(argv: Sequence[str], directory: Path) -> None:
    """Import the plugins that flags or the settings file name, each once."""
    config = next(_values("--config", argv), None)
    given = [Path(text) for text in _values("--plugin", argv)]
    for path in given or configured_plugins(config, directory):
        _load(path.resolve(), path)


def _values(flag: str, argv: Sequence[str]) -> Iterator[str]:
    """What a flag is given, before there is a parser that knows all flags."""
    words = iter(argv)
    for word in words:
        if word == "--":
            return
        if word == flag:
            yield next(words, "")
        elif word.startswith(f"{flag}="):
            yield word.partition("=")[2]


def _load(path: Path, shown: Path) -> None:
    if path in _loaded:
        return
    if not path.is_file():
        raise SettingsError(f"--plugin: {shown}: no such file")
    name = f"anabranch_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SettingsError(f"--plugin: {shown} is not a Python file: its name has to end with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        where = f"{shown}:{lines[-1]}" if lines else str(shown)
        raise SettingsError(f"--plugin: {where}: {type(error).__name__}: {error}") from None
    _loaded.add(path)
