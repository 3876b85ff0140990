"""Settings declared where they are read: a field of a frozen dataclass, with its flag beside it.

    class LimitSettings(SettingsGroup, heading="Limits"):
        time: float | None = option(None, "max-time", "stop after this time", parse_time, metavar="TIME")

Flags, help, keys of the settings file and the settings in `run.json` are all made from such groups: a new
setting is its declaration and its use.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, dataclass_transform

Text = str | Callable[[], str]


@dataclasses.dataclass(slots=True, eq=False)
class Option:
    """How a setting is written: its flag is `--name`, its key in TOML is `name`."""

    name: str
    help: Text
    """A function if the text is known only when help is asked for."""
    parse: Callable[[str], Any] | None
    """From the user's text to the value; ValueError with a line for the user. None is a switch."""
    _: dataclasses.KW_ONLY
    key: str = ""
    """The name of the setting in `run.json`."""
    heading: str = ""
    """Where the help shows it, if not under the heading of its group."""
    short: str = ""
    metavar: str = ""
    repeat: bool = False
    """May be given several times; the values are a tuple."""
    aliases: tuple[str, ...] = ()
    """Other spellings that are understood and not shown."""

    def __post_init__(self) -> None:
        self.key = self.key or self.name.replace("-", "_")

    @property
    def is_path(self) -> bool:
        return self.parse is Path


def option(default: Any, name: str, help: Text, parse: Callable[[str], Any], **more: Any) -> Any:
    """A field for a setting that has a value; `more` as `Option` takes it."""
    return dataclasses.field(default=default, metadata={"option": Option(name, help, parse, **more)})


def switch(name: str, help: Text, default: bool = False, **more: Any) -> Any:
    """A field for a setting that is on or off. One that is on by default is shown as `--no-NAME`."""
    return dataclasses.field(default=default, metadata={"option": Option(name, help, None, **more)})


@dataclass_transform(kw_only_default=True, frozen_default=True)
class SettingsGroup:
    """The base of groups of settings: a subclass is a frozen dataclass, all of whose fields have defaults.

    The methods are those that `dataclass` would write for each group, which takes 4 ms of every start.
    """

    HEADING: ClassVar[str]
    """Where the help shows the group."""

    def __init_subclass__(cls, *, heading: str) -> None:
        cls.HEADING = heading
        dataclasses.dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, **values: Any) -> None:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        unknown = values.keys() - {field.name for field in fields}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        vars(self).update({field.name: values.get(field.name, field.default) for field in fields})

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


class Setting(NamedTuple):
    """A setting with the group and the field that hold it."""

    group: type[SettingsGroup]
    field: str
    default: Any
    option: Option

    @property
    def heading(self) -> str:
        return self.option.heading or self.group.HEADING


def settings_of(groups: Iterable[type[SettingsGroup]]) -> dict[str, Setting]:
    """Key -> setting of all groups, in their order. ValueError if two have the same name."""
    found: dict[str, Setting] = {}
    flags: set[str] = set()
    for group in groups:
        for field in dataclasses.fields(group):  # type: ignore[arg-type]
            setting = Setting(group, field.name, field.default, field.metadata["option"])
            flag = setting.option.name
            if flag in flags or setting.option.key in found:
                raise ValueError(f"two settings are called {flag}")
            flags.add(flag)
            found[setting.option.key] = setting
    return found
