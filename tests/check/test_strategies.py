"""Every strategy comes to the same verdicts; what it opens and asks on the way is what its name says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from anabranch.check.decide import Decider, Solve
from anabranch.check.refine import PROVED
from anabranch.check.reports import group_reports
from anabranch.check.settings import PRESETS, CheckSettings, Strategy
from anabranch.cli.main import main
from anabranch.expr import Expr, bool_or, eq, mul, ult, var
from anabranch.solver.backend import UNSAT
from tests.check.support import SUBJECTS, answers, checked, opened

STRATEGIES = {
    "default": Strategy(),
    "full inlining": Strategy(inline=True),
    "antecedents first": Strategy(antecedents_first=True),
    "fresh solvers": Strategy(incremental=False),
    "lifting everything": Strategy(localised=False),
}
ROOMY = CheckSettings(max_requirements=500, max_depth=100)


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "default"])
@pytest.mark.parametrize("subject", ["null", "values", "freed", "step", "example6", "example6_wrong"])
def test_the_reports_are_the_same(subject: str, strategy: str) -> None:
    def places(settings: CheckSettings) -> set[tuple[str, int]]:
        _, result = checked(SUBJECTS / f"{subject}.c", settings)
        assert not result.verdicts["undecided"]
        reports, _ = group_reports(result.reports)
        # A place with two causes is told under the one that the model shows, beside the others of that cause.
        told = [r for r in reports if r.rank != "caller"]
        return {(r.property, line) for r in told for line in (r.line, *(line for _, line in r.also))}

    assert places(replace(ROOMY, strategy=STRATEGIES[strategy])) == places(ROOMY)


CASES = {
    "default": (PROVED, ["flip:memory", "flip:ret"]),
    "antecedents first": (PROVED, ["flip:ret", "flip:memory"]),
    "full inlining": (PROVED, ["flip:memory", "flip:ret", "init:ret"]),
}


@pytest.mark.parametrize("strategy", CASES)
def test_what_example_6_opens(strategy: str) -> None:
    verdict, expansions = CASES[strategy]
    settings = CheckSettings(properties=("assert",), strategy=STRATEGIES[strategy])
    ((_, answer),) = answers(SUBJECTS / "example6.c", settings)
    assert answer.verdict == verdict
    assert sorted(opened(answer)) == sorted(expansions)
    if strategy != "full inlining":
        assert opened(answer) == expansions


def test_lifting_everything_asks_only_at_the_roots(tmp_path: Path) -> None:
    source = tmp_path / "lifted.c"
    source.write_text(
        "static int get(int n) { return n > 3 ? 7 / n : 0; }\n"
        "int a(int n) { return get(n); }\n"
        "int b(int n) { return get(n) + get(n * n); }\n"
    )
    _, local = checked(source)
    _, lifted = checked(source, replace(ROOMY, strategy=STRATEGIES["lifting everything"]))
    assert local.verdicts["left to the callers"] == 0 and local.conditions == 1
    assert lifted.verdicts["left to the callers"] == 1 and lifted.conditions == 4


def test_known_answers_leave_a_solver_as_if_it_had_given_them() -> None:
    """A run that is answered in part from an earlier one goes on as that one did."""
    x, y = var("x", 16), var("y", 16)
    formulas = [
        eq(mul(x, y, 16), 4242, 16),
        bool_or(ult(x, 100, 16), ult(y, 100, 16)),
        ult(50, x, 16),
        ult(50, y, 16),
    ]
    assert all(isinstance(f, Expr) for f in formulas)

    def rounds(solve: Solve) -> list[object]:
        return [solve(formulas[:count], 100_000) for count in (1, 2, 4)]

    first = Decider()
    with first.session() as solve:
        expected = rounds(solve)
    assert expected[-1] is not UNSAT
    for kept in range(4):
        again = Decider()
        again.begin(dict(list(first.asked.items())[:kept]))
        with again.session() as solve:
            assert rounds(solve) == expected
        assert (again.spent, again.asked) == (first.spent, first.asked)


def test_preset_thesis_asks_known_callers_and_doubts_unknown_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "callers.c"
    source.write_text(
        "static int known(int *p) { return *p; }\n"
        "int unknown(int *p) { return *p; }\n"
        "int caller(void) { int n = 1; return known(&n); }\n"
        "int passes(int *q) { return known(q); }\n"
        "int sum(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s / n; }\n"
    )
    assert main(["check", str(source), "--preset", "thesis", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = {(report["line"], report["checked_in"]) for report in document["reports"]}
    assert found == {(1, "passes"), (2, "unknown"), (5, "sum")}
    assert document["unsound"]["a loop is assumed to end after the unrolled iterations"] == 1
    assert main(["check", str(source), "--preset", "thesis", "--null", "explicit", "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["reports"]


def test_conditions_of_a_function_have_a_limit(tmp_path: Path) -> None:
    source = tmp_path / "many.c"
    source.write_text("int many(int *a, int *b, int *c, int *d) { return *a + *b + *c + *d; }\n")
    settings = replace(PRESETS["thesis"], max_conditions=3)
    _, result = checked(source, settings)
    assert result.conditions == 4 and result.verdicts["refuted"] == 3
    assert result.undecided == {"a function has too many conditions": 1}
