"""Settings files: the table `[run]` of `anabranch.toml`, keys named as the long flags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anabranch.cli.settings import SettingsError
from anabranch.options import Option, Setting
from anabranch.values import suggestion

FILE_NAME = "anabranch.toml"


def read_config(
    given: str | None, directory: Path, declared: Mapping[str, Setting]
) -> dict[str, tuple[str, Any]]:
    """Key -> (where it stands, raw value) from the file `given`, or from the one in `directory`."""
    path = Path(given) if given is not None else directory / FILE_NAME
    table = _table(path, given is not None)
    by_name = {setting.option.name: setting.option for setting in declared.values()}
    found: dict[str, tuple[str, Any]] = {}
    for key, value in table.items():
        name = key.replace("_", "-")
        if name not in by_name:
            raise SettingsError(f"{path}: unknown setting {key!r}{suggestion(name, list(by_name))}")
        option = by_name[name]
        source = f"{path}: {key}"
        found[option.key] = (source, _raw(option, value, source, path.parent))
    return found


def configured_plugins(given: str | None, directory: Path) -> list[Path]:
    """The plugins that a settings file names: what else may stand in it depends on them."""
    path = Path(given) if given is not None else directory / FILE_NAME
    named = _table(path, given is not None).get("plugin", [])
    return [path.parent / str(one) for one in (named if isinstance(named, list) else [named])]


def _table(path: Path, wanted: bool) -> dict[str, Any]:
    """The table `[run]` of a settings file; nothing if there is none and none was asked for."""
    if not wanted and not path.is_file():
        return {}
    import tomllib

    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(
            f"--config: cannot read {path}: {(error.strerror or str(error)).lower()}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from None
    table = document.pop("run", {})
    if document:
        raise SettingsError(f"{path}: {next(iter(document))!r} stands outside the table [run]; move it there")
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: run must be a table: write [run] on a line of its own")
    return table


def _raw(option: Option, value: Any, source: str, base: Path) -> Any:
    """The value in the form that a flag gives: a bool, a text or a list of texts."""
    if option.parse is None:
        if not isinstance(value, bool):
            raise SettingsError(f"{source}: write true or false")
        return value
    if option.repeat:
        return [_text(option, item, source, base) for item in (value if isinstance(value, list) else [value])]
    return _text(option, value, source, base)


def _text(option: Option, value: Any, source: str, base: Path) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SettingsError(
            f"{source}: write a text or a number{', or a list of them' if option.repeat else ''}"
        )
    return str(base / str(value)) if option.is_path else str(value)
