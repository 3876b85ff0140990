"""Callers are asked about what they pass; conditions are lifted only where a bad value is passed."""

from __future__ import annotations

from pathlib import Path

from tests.check.support import checked

SOURCE = """
struct box { int *p; int *q; };
static void use(struct box *b, int n) {
    if (n > 3)
        *b->p = 1;
    *b->q = 2;
}
static void middle(struct box *b, int n) { use(b, n); }
void bad(int n, int *q) {
    struct box b;
    b.p = 0;
    b.q = q;
    middle(&b, n);
}
void good(int n, int *q) {
    struct box b;
    b.p = q;
    b.q = q;
    middle(&b, n);
}
void guarded(int *q) {
    struct box b;
    b.p = 0;
    b.q = q;
    middle(&b, 2);
}
void tested(int *q, int n) {
    struct box b;
    if (!q)
        return;
    b.p = q;
    b.q = q;
    middle(&b, n);
}
"""


def test_only_the_call_that_passes_null_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "passing.c"
    source.write_text(SOURCE)
    checker, result = checked(source)
    (finding,) = result.findings
    condition = finding.condition
    assert condition.function.name == "bad" and condition.loc is not None and condition.loc.line == 5
    assert [call.callee for call in condition.calls] == ["middle", "use"]
    assert not result.verdicts["undecided"]
    # Only the two callers that pass NULL ask the solver.
    assert {name for name, record in checker.records.items() if record.queries} <= {"bad", "guarded"}


def test_a_caller_with_a_requirement_keeps_one_for_each_leaf(tmp_path: Path) -> None:
    source = tmp_path / "passing.c"
    source.write_text(SOURCE)
    checker, _ = checked(source)
    for name in ("use", "middle"):
        requirements = checker.program.functions[name].requirements.values()
        assert sum(r.property.name == "null" for r in requirements) == 3  # b, b->p and b->q
