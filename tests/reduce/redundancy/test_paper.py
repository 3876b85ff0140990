"""The examples of the paper's section 3, each as a program or as locations and values.

Where the paper contradicts itself, the corrected tables stand here: the path of 3.2 takes line 5, so line 20
is on it, and what decides there is relevant above.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anabranch.analysis.bits import ones_of
from anabranch.expr import eq, ugt, var
from anabranch.ir.values import ConstInt, GlobalRef
from anabranch.machine.tape import CALL, Segment, Tape
from anabranch.reduce.redundancy.constraints import implied
from anabranch.reduce.redundancy.live import Live
from anabranch.reduce.redundancy.matching import needed_slices
from anabranch.reduce.redundancy.points import Point
from anabranch.reduce.redundancy.technique import Redundancy
from anabranch.solver import SliceSpace
from tests.reduce.redundancy.harness import detected

# ---- 3.1: relevant static branches

SNIPPET = """
static KEPT int look(void) { return same(0); }
static KEPT int parse(unsigned char x) { return x > 9; }
static KEPT void error(void) { marks++; }
static struct { int recurse; } chopt;
static int preserve_root;
int main(void) {
  unsigned char reference_file = IN, spec = IN;
  if (reference_file) { /* 1 */
    if (look()) /* 2 */
      error(); /* 3: uncovered */
    mark(4);
  } else {
    if (parse(spec)) /* 6 */
      error();
    mark(8);
  }
  if (chopt.recurse & preserve_root) /* 10 */
    mark(11); /* uncovered */
  return 0;
}"""


def test_the_relevant_static_branches(tmp_path: Path) -> None:
    technique = detected(tmp_path, SNIPPET, "-O", "0")
    technique._goals.update({})
    technique._slicer.goals_changed()
    main = next(facts for facts in technique._slicer._facts.values() if facts.function.name == "main")
    text = (tmp_path / "subject.c").read_text().splitlines()
    branches = set()
    for block in ones_of(main.goal):
        last = main.function.blocks[block].instructions[-1]
        if len(set(last.targets)) > 1:
            assert last.loc is not None
            branches.add(int(text[last.loc.line - 1].split("/*")[1].split()[0]))
    assert branches == {1, 2, 10}


# ---- 3.2: relevant locations

CHOWN = """
int TRUE = 1, FALSE = 0;
char argv1[3], argv2[16];
struct { int recurse; char *user_name, *group_name; } chopt;
int preserve_root, reference_file;
char *u = "u", *g = "g";
KEPT int line(int n) { return marks = n; }
KEPT int differ(const char *a, const char *b) {
  while (*a && *a == *b) { a++; b++; }
  return *a != *b;
}
KEPT void uncovered(int n) { marks = n; }
KEPT int chown_file(void) { return chopt.user_name == u; }
int run(void) {
  line(1); chopt.recurse = FALSE;
  line(2); preserve_root = FALSE;
  line(3);
  line(4); if (!differ(argv1, "-R")) {
    line(5); chopt.recurse = TRUE; }
  line(6); if (!differ(argv2, "--preserve-root")) {
    uncovered(7); preserve_root = TRUE; }
  line(8);
  line(9); if (reference_file) {
    line(10);
    line(11); chopt.user_name = u;
    line(12); chopt.group_name = g;
  } else {
    line(14);
    line(15); if (!chopt.user_name && chopt.group_name) {
      line(16); chopt.user_name = ""; }
    line(17);
  }
  line(19); if (chopt.recurse) {
    line(20); if (preserve_root)
      uncovered(21); }
  line(22); int ok = chown_file();
  line(23); return ok;
}
int main(void) {
  chopt.group_name = g;
  run();
  argv1[0] = '-', argv1[1] = 'R', argv2[0] = 'x', reference_file = 1;
  return run();
}"""

ARGUMENTS = {"argv2[0]", "argv1[0]", "argv1[1]", "argv1[2]"}
RELEVANT = {
    1: {"TRUE", "FALSE", *ARGUMENTS},
    2: {"TRUE", "FALSE", *ARGUMENTS},
    3: {"TRUE", "preserve_root", *ARGUMENTS},
    4: {"TRUE", "preserve_root", *ARGUMENTS},
    5: {"TRUE", "preserve_root", "argv2[0]"},
    6: {"chopt.recurse", "preserve_root", "argv2[0]"},
    8: {"chopt.recurse", "preserve_root"},
    9: {"chopt.recurse", "preserve_root"},
    10: {"chopt.recurse", "preserve_root"},
    11: {"chopt.recurse", "preserve_root"},
    12: {"chopt.recurse", "preserve_root"},
    19: {"chopt.recurse", "preserve_root"},
    20: {"preserve_root"},
    22: set(),
    23: set(),
}
SIZES = {
    "TRUE": 4, "FALSE": 4, "argv1": 3, "argv2": 16, "chopt": 24, "preserve_root": 4, "reference_file": 4,
    "marks": 4, "u": 8, "g": 8,
}  # fmt: skip


def names(technique: Redundancy, live: Live) -> set[str]:
    """The relevant locations, as the paper calls them."""
    addresses = technique._machine.namespace.layout.addresses
    found = set()
    for page, mask in live.pages.items():
        for offset in ones_of(mask):
            address = (page << 8) + offset
            name = next((n for n, size in SIZES.items() if 0 <= address - addresses[n] < size), "?")
            at = address - addresses[name] if name != "?" else 0
            if name.startswith("argv"):
                name = f"{name}[{at}]"
            elif name == "chopt":
                name = "chopt.recurse" if at < 4 else "chopt.names"
            found.add(name)
    return found


def test_the_relevant_locations_of_every_line(tmp_path: Path) -> None:
    technique = detected(tmp_path, CHOWN, "-O", "0")
    (stretch,) = technique._stretches.closed
    items, found = stretch.tape, dict[int, set[str]]()
    for position in reversed(range(len(items))):
        number = line_of(technique._tape, items[position])
        if number is None:
            continue
        if number in found:
            break  # the first call of the function, which covers the other lines
        assert technique._program is not None
        live = Live(technique._program)
        technique._slicer.program_ends(live)
        technique._slicer.walk(items[position + 1 :], live, items[position])
        found[number] = names(technique, live)
    assert found == RELEVANT


def line_of(tape: Tape, item: Any) -> int | None:
    """The argument of a call of `line` that an item ends with."""
    if not isinstance(item, int | tuple):
        return None
    segment: Segment = tape.segments[item if isinstance(item, int) else item[0]]
    if segment.kind != CALL:
        return None
    callee, *arguments = segment.last.operands
    if not isinstance(callee, GlobalRef) or callee.name != "line":
        return None
    assert isinstance(arguments[0], ConstInt)
    return arguments[0].value


def test_the_constraints_that_depend_on_locations() -> None:
    """Of a > b, b = 0, c = 1 and d = 2, all but the last depend on a and c."""
    space = SliceSpace()
    a, b, c, d = (var(name, 8) for name in "abcd")
    slices = {v.a: space.root(v.a) for v in (a, b, c, d)}
    for one, condition in ((b, ugt(5, b, 8)), (c, ugt(c, 1, 8)), (d, ugt(d, 2, 8))):
        made = space.assume(slices[one.a], condition)
        assert made is not None
        slices[one.a] = made
    both = space.assume(space.join((slices[a.a], slices[b.a])), ugt(a, b, 8))
    assert both is not None
    slices[a.a] = slices[b.a] = both
    point = Point(None, (), None, {}, {}, {}, slices)  # type: ignore[arg-type]
    found = needed_slices(point, [a, c], [])
    assert {part.vars for part in found} == {both.vars, (c.a,)}
    assert {d.a} & {variable for part in found for variable in part.vars} == set()


# ---- 3.3: state matching


def test_a_state_that_is_more_constrained_matches() -> None:
    space = SliceSpace()
    x = var("x", 8)
    first = space.assume(space.root(x.a), ugt(x, 3, 8))
    assert first is not None
    more = space.assume(first, eq(x, 9, 8))
    assert more is not None
    assert implied(first, {x.a: more}) == (first.constraints <= more.constraints)
    assert not implied(more, {x.a: first})


# ---- 3.4: refinement

FOUR_STATES = """
static unsigned char w, m;
int main(void) {
  switch (IN & 3) {
  case 0: w = same(0), m = same(1); break;
  case 1: w = same(1), m = same(1); break;
  case 2: w = same(2), m = same(1); break;
  default: w = same(3), m = same(0);
  }
  if (w) mark(1); else mark(2);
  if (m) exit(0);
  exit(1);
}"""


def test_relevant_locations_become_fewer_as_coverage_grows(tmp_path: Path, monkeypatch: Any) -> None:
    """The diagrams of section 2: w and m at first, then m alone, and in the end nothing."""
    published: list[set[str]] = []

    def publish(self: Redundancy, point: Point, live: Live, before: Any = Redundancy._publish) -> None:
        addresses = self._machine.namespace.layout.addresses
        published.append({n for n in "wm" for page in live.pages if live_at(live, page, addresses[n])})
        before(self, point, live)

    monkeypatch.setattr(Redundancy, "_publish", publish)
    technique = detected(tmp_path, FOUR_STATES, "-O", "0")
    assert {"w", "m"} in published
    assert published.index({"m"}) > published.index({"w", "m"})
    technique._goals.update({})
    technique._slicer.goals_changed()
    technique._stretches.slice_again()
    assert not any(stretch.live.pages for stretch in technique._stretches.closed if stretch.live is not None)


def live_at(live: Live, page: int, address: int) -> bool:
    return page == address >> 8 and bool(live.pages[page] >> (address & 255) & 1)
