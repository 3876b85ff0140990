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


def test_a_size_is_not_taken_for_the_pointer(tmp_path: Path) -> None:
    """An address is a sum of two words of memory: the pointer is the one that is loaded as such, or that the
    global variable is. Which of them comes first in the sum is a matter of chance, so there are many."""
    source = tmp_path / "sizes.c"
    lines = ["typedef unsigned long size;"]
    for number in range(8):
        lines += [
            f"struct s{number} {{ int skipped[{2 * number + 2}]; size used; char *data; }};",
            f"static char get{number}(struct s{number} *s) {{ return s->data[s->used]; }}",
            f"char first{number}(struct s{number} *s) {{ s->used = 0; return get{number}(s); }}",
            f"static char *data{number}; static size used{number};",
            f"static char next{number}(void) {{ return data{number}[used{number}]; }}",
            f"char start{number}(char *s) {{ data{number} = s; used{number} = 0; return next{number}(); }}",
        ]
    source.write_text("\n".join(lines) + "\n")
    _, result = checked(source)
    assert not result.reports and not result.verdicts["refuted"]
