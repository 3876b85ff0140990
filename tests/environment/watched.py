"""Checks the declaration of every call of a model that a program makes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.environment.call_parts import call_parts, touched
from anabranch.environment.effects import SYSTEM_CALLS
from anabranch.environment.parts import Notes, differing
from anabranch.environment.posix.kernel import CALLS
from anabranch.explore import build
from anabranch.frontend import FrontendOptions, load_program
from anabranch.machine.path import sample
from tests.environment.posix.perturbed import Checks
from tests.machine.harness import Outcome, run_program

See = Callable[[str, tuple[Any, ...], Notes], None]


def watch(monkeypatch: pytest.MonkeyPatch, see: See | None = None) -> Checks:
    """From now on the calls of all models are checked, and told to `see` before they are made."""
    checks, find = Checks(most=10), build.find_model

    def watched_model(name: str, api: Any, settings: Any) -> Any:
        model = find(name, api, settings)
        if model is None:
            return None

        def call(*arguments: Any) -> Any:
            before = api.path.notes
            if name in SYSTEM_CALLS and arguments[0] in CALLS:
                if see is not None:
                    see(name, arguments, before)
                checks.call(api, name, arguments, dict(before), partial(sample, api.path.slices))
            try:
                return model(*arguments)
            finally:
                found = call_parts(name, arguments, before, api.path.notes)
                if found is not None:
                    changed = differing(before, api.path.notes)
                    assert touched(changed, found.writes) == changed, (name, arguments, changed)

        return call

    monkeypatch.setattr(build, "find_model", watched_model)
    return checks


def explore(path: Path, *options: str, libc: str | None = None) -> Outcome:
    settings = settings_from_args([str(path), *options])
    extra = {} if libc is None else {"libc": libc}
    return run_program(load_program([path], FrontendOptions(**extra)), settings)
