"""The examples of Li et al.: sections 2, 3.2, 3.3, 3.4 and 5.1."""

from __future__ import annotations

from anabranch.expr import Expr, Value, and_, eq, mul, not_, sgt, slt, ule, var
from anabranch.reduce.zequivalence.canonical import canonical_form
from anabranch.reduce.zequivalence.constraint import StateConstraint
from anabranch.reduce.zequivalence.exact import equivalent
from anabranch.reduce.zequivalence.flexible import Flexible
from anabranch.solver.quantified import Quantified

W = 32
BETA = [var(f"paper.beta{i}", W) for i in range(3)]
ALPHA = [var(f"paper.alpha{i}", W) for i in range(6)]
OBSERVABLE = frozenset(b.a for b in BETA)


def constraint(*clauses: Value) -> StateConstraint:
    return StateConstraint(clauses, (), OBSERVABLE)


def unconstrained(whole: Expr) -> bool:
    """Is a single expression flexible by the rules?"""
    graph = Flexible([whole], OBSERVABLE).run()
    return graph.leaf[graph.roots[0]] == (0, 1)


def flexible(whole: Expr, part: Expr) -> bool:
    """Is a part of an expression flexible, or below something that is?"""
    graph = Flexible([whole], OBSERVABLE).run()
    k = graph.number[part]
    return graph.uses[k] == 0 or graph.leaf[k] is not None


# -- section 2 --------------------------------------------------------------------------------------------

TYPE = var("paper.type", 8)
X = [var(f"paper.x{i}", 1) for i in range(4)]
Y = [var(f"paper.y{i}", W) for i in range(3)]
IS_FILE = eq(TYPE, ord("F"), 8)


def read_data() -> list[StateConstraint]:
    """C1 to C6: the states at the return of readData."""
    found = []
    for kind in (IS_FILE, not_(IS_FILE)):
        found += [
            StateConstraint((kind, not_(X[1])), (("RET", 0, W),), frozenset([TYPE.a])),
            StateConstraint((kind, X[1], not_(X[2])), (("RET", Y[1], W),), frozenset([TYPE.a])),
            StateConstraint((kind, X[1], X[2], not_(X[3])), (("RET", Y[1] + Y[2], W),), frozenset([TYPE.a])),
        ]
    return found


def test_read_data_keeps_four_of_six() -> None:
    c1, c2, c3, c4, c5, c6 = map(canonical_form, read_data())
    assert c2 == c3
    assert c5 == c6
    assert len({c1, c2, c4, c5}) == 4


def test_read_and_noti_keeps_three_of_six() -> None:
    """C8 to C10 and C12 to C14: `type` is no longer observable, and the sign of s was looked at."""
    forms = []
    for c in (read_data()[i] for i in (0, 1, 3, 4)):
        ret = c.outputs[0][1]
        negative = slt(ret, 0, W)
        for clause in (negative, not_(negative)):
            if clause.__class__ is Expr:
                forms.append(canonical_form(StateConstraint((*c.clauses, clause), c.outputs, frozenset())))
            elif clause:
                forms.append(canonical_form(StateConstraint(c.clauses, c.outputs, frozenset())))
    assert len(forms) == 6  # eight, and two of them infeasible
    assert len(set(forms)) == 3
    assert forms[:3] == forms[3:]


# -- sections 3.2 to 3.4 ----------------------------------------------------------------------------------


def test_different_conditions_on_unobservable_variables() -> None:
    """a1 > 1 and a2 = 1 of section 3.2."""
    one, two = constraint(sgt(ALPHA[1], 1, W)), constraint(eq(ALPHA[2], 1, W))
    assert canonical_form(one) == canonical_form(two)
    assert canonical_form(one) != canonical_form(constraint())  # which cannot be false
    assert canonical_form(one) != canonical_form(constraint(sgt(BETA[1], 1, W)))


def test_example_1() -> None:
    assert unconstrained(eq(BETA[1], ALPHA[0] + BETA[2], W))


def test_example_2() -> None:
    first = eq(BETA[1], ALPHA[1] + ALPHA[2], W)
    second = eq(BETA[2], ALPHA[1] + ALPHA[2], W)
    whole = and_(first, second, 1)
    assert not unconstrained(whole)
    assert not flexible(whole, first)
    assert not flexible(whole, second)


def test_example_3() -> None:
    first, second = eq(ALPHA[1], BETA[2], W), eq(BETA[1], ALPHA[1] + ALPHA[2], W)
    whole = and_(first, second, 1)
    assert unconstrained(whole)
    assert flexible(whole, ALPHA[1] + ALPHA[2])


def test_c1_and_c2_of_section_3_4() -> None:
    c1 = eq(mul(BETA[1], ALPHA[1] + 34, W), mul(ALPHA[2], ALPHA[2], W) + ALPHA[2], W)
    c2 = eq(mul(BETA[1], ALPHA[3] - ALPHA[4], W), mul(ALPHA[5], ALPHA[5], W) + ALPHA[5], W)
    assert canonical_form(constraint(c1)) == canonical_form(constraint(c2))
    other = eq(mul(BETA[2], ALPHA[3] - ALPHA[4], W), mul(ALPHA[5], ALPHA[5], W) + ALPHA[5], W)
    assert canonical_form(constraint(c1)) != canonical_form(constraint(other))


def test_c1_and_c2_as_printed() -> None:
    """There a2 + a2 and a5 + a5 are written; sums of a variable with itself are products here."""
    c1 = eq(mul(BETA[1], ALPHA[1] + 34, W), ALPHA[2] + ALPHA[2], W)
    c2 = eq(mul(BETA[1], ALPHA[3] - ALPHA[4], W), ALPHA[5] + ALPHA[5], W)
    assert canonical_form(constraint(c1)) == canonical_form(constraint(c2))


# -- section 5.1 ------------------------------------------------------------------------------------------


def coupled(beta: list[Expr], alpha: list[Expr], w: int) -> list[Value]:
    a1, a2, a3 = alpha
    return [
        eq(a1 + a2, beta[0], w),
        eq(a2 + a3, beta[1], w),
        eq(a1 + a3, beta[1] + a1, w),
    ]


def test_tight_coupling_defeats_the_rules_but_not_equations() -> None:
    clauses = coupled(BETA[1:], ALPHA[1:4], W)
    whole = and_(and_(clauses[0], clauses[1], 1), clauses[2], 1)
    assert not unconstrained(whole)
    assert canonical_form(constraint(*clauses)) == canonical_form(constraint(eq(ALPHA[0], 7, W)))


def test_tight_coupling_by_the_solver() -> None:
    """Unsigned comparisons between the same three: nothing to solve for, but always possible."""
    w = 6
    a1, a2, a3 = (var(f"paper.narrow{i}", w) for i in range(3))
    b = var("paper.narrow.beta", w)
    clauses = (ule(a1 & a2, b, w), ule(a2 & a3, a1, w), not_(eq(a1 & a3, a2 | b, w)))
    observable = frozenset([b.a])
    one = StateConstraint(clauses, (), observable)
    two = StateConstraint((eq(a1, 3, w),), (), observable)
    three = StateConstraint((eq(b, 3, w),), (), observable)
    solver = Quantified()
    assert canonical_form(one) != canonical_form(two)
    assert equivalent(one, two, solver) is True
    assert equivalent(one, three, solver) is False
