"""The back end and the chain that a configuration describes."""

from __future__ import annotations

from collections.abc import Mapping

from .backend import Backend
from .bitwuzla_backend import BitwuzlaBackend
from .bitwuzla_terms import PROCESS, Terms
from .config import PARAMETERS, Setting, SolverConfig
from .leaf_models import Leaves, NumberedModels
from .limit import QueryLimits
from .links import AskBackend, Bounds, ExactValues, Fixed, KnownModels, Link, Remembered, Seen
from .orders import Orders
from .quantified_procedure import QuantifiedLink, QuantifiedProcedure
from .rounds import Rounds

_OWN = frozenset(("rebuild", "prefix"))
"""Parameters of the group `bitwuzla` that are ours, not Bitwuzla's."""


def bitwuzla_options(config: SolverConfig) -> dict[str, Setting]:
    """Options of Bitwuzla that are not at their defaults."""
    return {
        name: value
        for name, value in config.group("bitwuzla").items()
        if name not in _OWN and value != PARAMETERS[f"bitwuzla.{name}"].default
    }


def make_backend(config: SolverConfig, limits: QueryLimits | None = None, terms: Terms = PROCESS) -> Backend:
    """The solver of a configuration."""
    if config["solver"] == "spear":
        return _spear(config, limits, terms)
    return BitwuzlaBackend(
        limits=limits,
        rebuild=int(config["bitwuzla.rebuild"]),
        options=bitwuzla_options(config),
        prefix=str(config["bitwuzla.prefix"]),
        terms=terms,
    )


def _spear(config: SolverConfig, limits: QueryLimits | None, terms: Terms) -> Backend:
    from .spear import Encoding, SpearOptions
    from .spear.backend import SpearBackend  # its library is loaded when it is asked for

    group: Mapping[str, Setting] = config.group("spear")
    encoding = Encoding(
        str(group["multiplier"]),
        str(group["divider"]),
        str(group["constant-division"]),
        bool(group["redundant-choices"]),
    )
    sat = tuple(
        (name, int(value))
        for name, value in config.group("cadical").items()
        if value != PARAMETERS[f"cadical.{name}"].default
    )
    return SpearBackend(SpearOptions(encoding, int(group["rebuild"]), sat), limits, terms=terms)


def make_links(
    config: SolverConfig,
    backend: Backend,
    leaves: Mapping[int, NumberedModels] | None = None,
    clauses: Mapping[int, Rounds] | None = None,
) -> tuple[Link, ...]:
    """The chain in its order. `leaves`: models of states that became one, by the index of the number that
    tells them apart; `clauses`: what a quantifier says of such a number."""
    models = config["links.models"]
    remembered = Remembered() if config["links.subsets"] == "on" else None
    links: tuple[tuple[Link | None, bool], ...] = (
        (Seen(), True),
        (ExactValues(), True),
        (KnownModels(), models == "early"),
        (Fixed(), config["links.fixed"] == "on"),
        (Bounds(), config["links.bounds"] == "on"),
        (KnownModels(), models == "late"),
        (Orders(), config["links.orders"] == "on"),
        (remembered, True),
        (
            QuantifiedLink(QuantifiedProcedure(backend), {} if clauses is None else clauses),
            config["links.quantified"] == "on",
        ),
        (Leaves({} if leaves is None else leaves, lambda: backend.effort), True),
        (AskBackend(backend, remembered), True),
    )
    return tuple(link for link, wanted in links if wanted and link is not None)
