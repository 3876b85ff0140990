"""Configurations: names and values are checked, files read back, and every parameter does something."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from bitwuzla import Option, Options

from anabranch import expr as X
from anabranch.solver import UNSAT, BitwuzlaBackend, SliceSpace
from anabranch.solver.bitwuzla_terms import Terms
from anabranch.solver.config import (
    PARAMETERS,
    PRESETS,
    ConfigError,
    SolverConfig,
    parse_config,
    read_config,
    shown,
)
from anabranch.solver.configured import bitwuzla_options, make_backend, make_links
from anabranch.solver.spear import THESIS
from anabranch.solver.spear.backend import SpearBackend
from anabranch.solver.spear.options import CADICAL

from . import expressions


def test_the_table() -> None:
    for name, p in PARAMETERS.items():
        assert p.default in p.domain
        assert 2 <= len(p.domain) <= 8
        assert len(set(p.domain)) == len(p.domain)
        if p.when is not None:
            assert p.when[1] in PARAMETERS[p.when[0]].domain, name
            assert list(PARAMETERS).index(p.when[0]) < list(PARAMETERS).index(name)


def test_defaults_are_those_of_the_solvers() -> None:
    options = Options()
    for name, value in SolverConfig().group("bitwuzla").items():
        if name not in ("rebuild", "prefix"):
            assert options.get(Option[name.upper().replace("-", "_")]) == value, name
    assert SolverConfig().group("cadical") == {name: choice.default for name, choice in CADICAL.items()}


@pytest.mark.parametrize(
    "values", [{"bitwuzla.rewrite": 1}, {"nothing": 1}, {"spear.bitwuzla.abstraction": 1}]
)
def test_unknown_names(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="no parameter"):
        SolverConfig.of(values)


@pytest.mark.parametrize(
    "values", [{"bitwuzla.rewrite-level": 3}, {"bitwuzla.preprocess": 1}, {"solver": "z"}]
)
def test_wrong_values(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="choose from"):
        SolverConfig.of(values)


def random_config(rng: random.Random, changes: int) -> SolverConfig:
    chosen = rng.sample(sorted(PARAMETERS), changes)
    return SolverConfig.of({name: rng.choice(PARAMETERS[name].domain) for name in chosen})


@pytest.mark.parametrize("seed", range(20))
def test_files_read_back(seed: int, tmp_path: Path) -> None:
    config = random_config(random.Random(seed), 25)
    path = tmp_path / "config.toml"
    path.write_text(config.to_toml())
    assert read_config(str(path)) == config == parse_config(config.to_toml())
    assert all(name in shown(config) for name in PARAMETERS)


def test_places(tmp_path: Path) -> None:
    assert read_config("check") is PRESETS["check"]
    assert read_config("auto") is PRESETS["default"]
    assert read_config("auto", "check") is PRESETS["check"]
    thesis = make_backend(read_config("thesis"))
    assert isinstance(thesis, SpearBackend)
    assert dict(thesis.options.sat) == {n: v for n, v in THESIS.sat if v != CADICAL[n].default}
    with pytest.raises(ConfigError, match="neither"):
        read_config(str(tmp_path / "missing.toml"))
    (tmp_path / "bad.toml").write_text("solver = 'z4'")
    with pytest.raises(ConfigError, match=r"bad\.toml: solver"):
        read_config(str(tmp_path / "bad.toml"))


def test_what_has_no_effect() -> None:
    config = SolverConfig.of(
        {"bitwuzla.preprocess": False, "bitwuzla.pp-normalize": False, "cadical.elim": 0}
    )
    assert not config.is_active("bitwuzla.pp-normalize")
    assert not config.is_active("cadical.elim")
    assert config.canonical() == SolverConfig.of({"bitwuzla.preprocess": False})
    nested = SolverConfig.of({"solver": "spear"})
    assert not nested.is_active("bitwuzla.pp-variable-subst-norm-eq")


def test_make_backend() -> None:
    backend = make_backend(SolverConfig.of({"solver": "spear", "cadical.elim": 0, "spear.rebuild": 30}))
    assert isinstance(backend, SpearBackend)
    assert backend.options.sat == (("elim", 0),)
    assert backend.options.rebuild == 30
    assert bitwuzla_options(PRESETS["check"]) == {"rewrite-level": 0, "preprocess": False}
    assert isinstance(make_backend(PRESETS["check"]), BitwuzlaBackend)


@pytest.mark.parametrize("seed", range(25))
def test_answers_do_not_depend_on_the_configuration(seed: int) -> None:
    rng = random.Random(seed)
    config = random_config(rng, 20)
    X.reset()  # terms of another manager may be on the nodes
    terms = Terms()
    backend, other = make_backend(config, terms=terms), SpearBackend()
    path: list[Any] = []
    for _ in range(12):
        c = expressions.value(rng, 1, 4)
        if c.__class__ is not X.Expr:
            continue
        variables = sorted({v for d in (*path, c) for v in X.expr_vars(d)})
        found = backend.solve((*path, c), variables)
        assert (found is UNSAT) == (other.solve((*path, c), variables) is UNSAT), config
        if isinstance(found, dict):
            assert all(X.evaluate(d, found) is True for d in (*path, c)), config
            path.append(c)
    terms.release()


def names(config: SolverConfig) -> list[str]:
    return [link.name for link in make_links(config, BitwuzlaBackend())]


def test_links() -> None:
    usual = [
        "seen",
        "values",
        "fixed",
        "bounds",
        "models",
        "orders",
        "subsets",
        "quantified",
        "rounds",
        "backend",
    ]
    assert names(SolverConfig()) == usual
    assert names(SolverConfig.of({"links.models": "early"}))[2:5] == ["models", "fixed", "bounds"]
    off = {"links.models": "off"} | {f"links.{n}": "off" for n in ("fixed", "bounds", "orders", "subsets")}
    assert names(SolverConfig.of(off)) == ["seen", "values", "quantified", "rounds", "backend"]
    assert "quantified" not in names(SolverConfig.of({"links.quantified": "off"}))


def test_decisions_do_not_depend_on_the_links() -> None:
    x, y = X.var("linked x", 16), X.var("linked y", 16)
    conds = [X.ult(x, y, 16), X.ult(y, 9, 16), X.ult(x, 8, 16), X.eq(x, 200, 16), X.ult(y, x, 16)]
    answers = []
    for values in ({}, {"links.models": "off", "links.subsets": "off"}, {"links.bounds": "off"}):
        backend = BitwuzlaBackend()
        space = SliceSpace(backend, make_links(SolverConfig.of(values), backend))
        s = space.join((space.root(x.a), space.root(y.a)))
        found = []
        for c in conds:
            after = space.assume(s, c)
            found.append(after is not None)
            s = after or s
        answers.append(found)
    assert answers[0] == answers[1] == answers[2] == [True, True, True, False, False]
