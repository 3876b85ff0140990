"""The table of checks: names, kinds, what a run makes of `--check` and `--no-check`."""

from __future__ import annotations

from pathlib import Path

from anabranch.explore.checks import (
    BY_NAME,
    CHECKS,
    CHOICES,
    FOLDED,
    UNDEFINED,
    chosen,
    compiled_in,
    help_text,
)


def names(*arguments: tuple[str, ...]) -> set[str]:
    return {check.name for check in chosen(*arguments)}


def test_names_are_unique_and_a_default_can_be_switched_off() -> None:
    assert len(BY_NAME) == len(CHECKS)
    always = {check.name for check in CHECKS if check.always}
    default = {check.name for check in CHECKS if check.default}
    assert names() == always | default
    assert names((), CHOICES) == always


def test_asked_for_wins_and_undefined_stands_for_its_parts() -> None:
    assert {"overflow", "memtrack", "memcleanup"} <= names(("overflow", "leak"))
    assert "memcleanup" not in names(("memtrack",)) and "memtrack" not in names(("memcleanup",))
    assert "overflow" in names(("overflow",), ("overflow",))
    parts = {check.name for check in CHECKS if check.undefined}
    asked = {"bounds", "overflow", "shift", "null", "alignment", "bool", "enum", "vla-bound", "float-cast"}
    assert asked <= parts
    assert parts <= names((UNDEFINED,))
    assert not {"memtrack", "memcleanup"} & names((UNDEFINED,))


def test_what_the_machine_checks_itself_is_not_compiled_in() -> None:
    assert {"unreachable", "return", "signed-integer-overflow"}.isdisjoint(compiled_in(chosen()))
    assert compiled_in([BY_NAME["overflow"], BY_NAME["memtrack"]]) == (*FOLDED, "signed-integer-overflow")


def test_help_names_every_choice() -> None:
    for name in CHOICES:
        assert name in help_text()


def test_the_reference_has_every_part_of_undefined() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "reference.md").read_text("utf-8")
    for check in CHECKS:
        if check.undefined:
            default = " (default)" if check.default else ""
            assert f"| `{check.name}`{default} | {check.explanation} |" in text
