"""Everything about deciding queries that is a choice, by name: one table, and configurations over it.

A configuration is written as a small TOML file that has only what differs from the default:

    solver = "bitwuzla"
    [bitwuzla]
    rewrite-level = 0

The bindings of CaDiCaL pass over names that they do not know; here an unknown name is an error, as is a value
outside a parameter's domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from .spear.options import CADICAL, THESIS

Setting: TypeAlias = bool | int | str


class ConfigError(Exception):
    """A configuration is wrong; the message is one line."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One choice."""

    name: str
    """`group.name`; of a group by itself for what concerns all."""
    default: Setting
    domain: tuple[Setting, ...]
    """The values that the tuner tries; the default is one of them."""
    meaning: str
    when: tuple[str, Setting] | None = None
    """It has an effect only where this parameter has this value, and has an effect itself."""
    shows: str = "query"
    """Where its effect shows: in a `query`, in several queries in a `row`, or in a `run` only (queries that
    were logged come after the chain of links)."""


def _switch(name: str, default: bool, meaning: str, when: tuple[str, Setting] | None = None) -> Parameter:
    return Parameter(name, default, (False, True), meaning, when)


def _link(name: str, meaning: str, domain: tuple[Setting, ...] = ("on", "off")) -> Parameter:
    return Parameter(f"links.{name}", domain[0], domain, meaning, shows="run")


_BITWUZLA, _SPEAR = ("solver", "bitwuzla"), ("solver", "spear")
_PREPROCESS, _SUBST = ("bitwuzla.preprocess", True), ("bitwuzla.pp-variable-subst", True)
_ABSTRACTION = ("bitwuzla.abstraction", True)

_TABLE = (
    Parameter("solver", "bitwuzla", ("bitwuzla", "spear"), "the back end"),
    _link("fixed", "decide conditions over variables that have one value"),
    _link("bounds", "decide by ranges computed through the expression"),
    _link("models", "try known models: after ranges, before them, never", ("late", "early", "off")),
    _link("orders", "decide by transitivity of comparisons"),
    _link("subsets", "answers of the solver with fewer or more constraints"),
    _link("quantified", "models and lemmas for conditions on all rounds of a loop (--loops quantified)"),
    Parameter(
        "bitwuzla.rebuild", 100, (1, 10, 30, 100, 300, 1000), "queries of one solver", _BITWUZLA, "row"
    ),
    Parameter(
        "bitwuzla.prefix", "push", ("push", "assume", "assert"), "how constraints are taken back", _BITWUZLA
    ),
    Parameter("bitwuzla.rewrite-level", 2, (0, 1, 2), "rules that simplify terms", _BITWUZLA),
    Parameter("bitwuzla.bv-solver", "bitblast", ("bitblast", "preprop"), "local search first", _BITWUZLA),
    Parameter("bitwuzla.preprocess", True, (False, True), "simplify all constraints together", _BITWUZLA),
    _switch("bitwuzla.pp-contradicting-ands", False, "find contradicting conjunctions", _PREPROCESS),
    _switch("bitwuzla.pp-elim-bv-udiv", False, "divisions by products", _PREPROCESS),
    _switch("bitwuzla.pp-embedded-constr", True, "replace constraints inside others", _PREPROCESS),
    _switch("bitwuzla.pp-flatten-and", True, "split conjunctions", _PREPROCESS),
    _switch("bitwuzla.pp-normalize", True, "order sums and products", _PREPROCESS),
    _switch("bitwuzla.pp-skeleton-preproc", True, "find units of the Boolean skeleton", _PREPROCESS),
    _switch("bitwuzla.pp-variable-subst", True, "replace variables by what they equal", _PREPROCESS),
    _switch("bitwuzla.pp-variable-subst-norm-eq", True, "solve equations for a variable", _SUBST),
    _switch("bitwuzla.pp-variable-subst-norm-diseq", False, "solve disequalities", _SUBST),
    _switch("bitwuzla.pp-variable-subst-norm-bv-ineq", False, "solve inequalities", _SUBST),
    Parameter("bitwuzla.abstraction", True, (False, True), "arithmetic by lemmas first", _BITWUZLA),
    Parameter("bitwuzla.abstraction-bv-size", 33, (8, 16, 33, 65), "from this width on", _ABSTRACTION),
    Parameter("bitwuzla.abstraction-value-limit", 8, (1, 8, 32), "values before the circuit", _ABSTRACTION),
    _switch("bitwuzla.abstraction-eager-refine", False, "all lemmas that are violated", _ABSTRACTION),
    _switch("bitwuzla.abstraction-value-only", False, "values instead of lemmas", _ABSTRACTION),
    _switch("bitwuzla.abstraction-initial-lemmas", False, "lemmas from the start", _ABSTRACTION),
    _switch("bitwuzla.abstraction-inc-bitblast", False, "circuits bit by bit", _ABSTRACTION),
    _switch("bitwuzla.abstraction-bv-add", False, "sums", _ABSTRACTION),
    _switch("bitwuzla.abstraction-bv-mul", True, "products", _ABSTRACTION),
    _switch("bitwuzla.abstraction-bv-udiv", True, "quotients", _ABSTRACTION),
    _switch("bitwuzla.abstraction-bv-urem", True, "remainders", _ABSTRACTION),
    _switch("bitwuzla.abstraction-ite", False, "choices", _ABSTRACTION),
    Parameter("spear.rebuild", 1, (1, 10, 30, 100, 300), "queries of one solver", _SPEAR, "row"),
    Parameter("spear.multiplier", "rows", ("rows", "columns"), "array or tree of adders", _SPEAR),
    Parameter("spear.divider", "array", ("array", "guild"), "cells restore, or add and subtract", _SPEAR),
    Parameter("spear.constant-division", "shifts", ("shifts", "array"), "division by constants", _SPEAR),
    _switch("spear.redundant-choices", False, "more clauses for choices", _SPEAR),
    *(
        Parameter(f"cadical.{name}", choice.default, choice.values, choice.meaning, _SPEAR)
        for name, choice in CADICAL.items()
    ),
)

PARAMETERS: dict[str, Parameter] = {parameter.name: parameter for parameter in _TABLE}


@dataclass(frozen=True, slots=True)
class SolverConfig:
    """A value for every parameter; those that differ from the default are kept, in the order of the table."""

    changed: tuple[tuple[str, Setting], ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> SolverConfig:
        """A configuration with these values. ConfigError for a wrong name or value."""
        for name, value in values.items():
            _check(name, value)
        return cls(
            tuple(
                (name, values[name])
                for name, parameter in PARAMETERS.items()
                if name in values and values[name] != parameter.default
            )
        )

    def __getitem__(self, name: str) -> Setting:
        for changed, value in self.changed:
            if changed == name:
                return value
        return PARAMETERS[name].default

    def replaced(self, name: str, value: Setting) -> SolverConfig:
        """The configuration with another value of one parameter."""
        return SolverConfig.of({**dict(self.changed), name: value})

    def is_active(self, name: str) -> bool:
        """Whether the parameter has an effect, given the others."""
        when = PARAMETERS[name].when
        return when is None or (self[when[0]] == when[1] and self.is_active(when[0]))

    def canonical(self) -> SolverConfig:
        """Without the values that have no effect: configurations that behave alike are equal."""
        return SolverConfig(tuple((name, value) for name, value in self.changed if self.is_active(name)))

    def group(self, name: str) -> dict[str, Setting]:
        """All parameters of a group, by their names in it."""
        prefix = f"{name}."
        return {p.removeprefix(prefix): self[p] for p in PARAMETERS if p.startswith(prefix)}

    def to_toml(self) -> str:
        """The file that `read_config` reads."""
        lines = []
        group = ""
        for name, value in self.changed:
            place, _, last = name.rpartition(".")
            if place != group:
                group = place
                lines.append(f"[{group}]")
            lines.append(f"{last} = {_toml(value)}")
        return "".join(f"{line}\n" for line in lines)

    def __str__(self) -> str:
        return ", ".join(f"{name} = {_toml(value)}" for name, value in self.changed) or "default"


def _toml(value: Setting) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _check(name: str, value: object) -> None:
    parameter = PARAMETERS.get(name)
    if parameter is None:
        raise ConfigError(f"there is no parameter {name!r} (anabranch tune --show lists them)")
    if not any(type(value) is type(known) and value == known for known in parameter.domain):
        allowed = ", ".join(map(_toml, parameter.domain))
        raise ConfigError(f"{name} = {value!r}: choose from {allowed}")


PRESETS: dict[str, SolverConfig] = {
    "default": SolverConfig(),
    "check": SolverConfig.of(
        {"bitwuzla.prefix": "assert", "bitwuzla.rewrite-level": 0, "bitwuzla.preprocess": False}
    ),
    "spear": SolverConfig.of({"solver": "spear"}),
    "thesis": SolverConfig.of({"solver": "spear", **{f"cadical.{name}": v for name, v in THESIS.sat}}),
}
"""Configurations by name: what explorations use, what the checker uses, the other back end, and that with the
settings of the thesis."""
AUTO = "auto"
"""What is best for the kind of run. For explorations, nothing that was tried is better than the default."""


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def parse_config(text: str) -> SolverConfig:
    """A configuration from TOML."""
    import tomllib  # only where there is a file

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not valid TOML: {error}") from None
    return SolverConfig.of(dict(_flat(table)))


def read_config(place: str, kind: str = "explore") -> SolverConfig:
    """A configuration by name, or from a file; `kind` of run (`explore`, `check`) is what `auto` goes by."""
    if place == AUTO:
        return PRESETS["check" if kind == "check" else "default"]
    if place in PRESETS:
        return PRESETS[place]
    try:
        return parse_config(Path(place).read_text("utf-8"))
    except OSError as error:
        names = ", ".join((AUTO, *PRESETS))
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"{place} is neither a configuration ({names}) nor a file: {reason}") from None
    except (ConfigError, UnicodeDecodeError) as error:
        raise ConfigError(f"{place}: {error}") from None


def shown(config: SolverConfig, names: Iterable[str] = PARAMETERS) -> str:
    """A configuration for people: every parameter with its value, its domain and what it means."""
    lines = []
    for name in names:
        parameter = PARAMETERS[name]
        domain = " | ".join(map(_toml, parameter.domain))
        mark = "*" if config[name] != parameter.default else " "
        off = "" if config.is_active(name) else " (no effect here)"
        lines.append(f"{mark} {name} = {_toml(config[name])}    # {parameter.meaning}: {domain}{off}")
    return "\n".join(lines)
