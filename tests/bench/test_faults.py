"""The fault oracle: its reference semantics by hand-written programs, its generator, a sample of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from bench import faults
from bench.lib.engine import run_engine
from bench.lib.fault_oracle import draw_faulty, fault_truth
from bench.lib.fault_programs import PRELUDE, generate_faulty
from bench.lib.gen.memory_faults import STRUCTS
from bench.lib.gen.types import TYPEDEFS
from bench.lib.generate import Input, Program

AROUND = """\
{prelude}
{typedefs}
{structs}
STATE static u64 sink = 0;
GLOBAL(u8[2], g, 1, 2);
CONSTANT(u8[2], c, 1, 2);
static u16 *give(void) {{ LOCAL_IS(u16, t, 1); return &V(t); }}
int main(void) {{
  BEGIN(g); BEGIN_CONSTANT(c);
  u8 x;
  klee_make_symbolic(&x, 1, "x");
  {body}
  return 0;
}}
#ifdef ORACLE
const unsigned oracle_objects = 1, oracle_sizes[] = {{1}}, oracle_counts[] = {{256}};
#endif
"""

MEANING = {
    "all is well": ("LOCAL_IS(u8[3], a, 1, 2, 3); WR(V(a)[x & 1]) = 4; sink += USE(V(a)[2]);", set()),
    "dead load outside": ("LOCAL(u8[3], a); u8 v = RD(V(a)[x & 3]);", {"out-of-bounds"}),
    "below the start": ("LOCAL(u16[3], a); WR(V(a)[-1]) = 1;", {"out-of-bounds"}),
    "global": ("if (x == 9) { u8 v = RD(V(g)[2]); }", {"out-of-bounds"}),
    "partly outside": ("LOCAL(u8[6], a); u32 v = RD(*(unaligned *)(V(a) + 3));", {"out-of-bounds"}),
    "constant data": ("if (x) { u8 v = RD(V(c)[1]); } else WR(*(u8 *)&V(c)[1]) = 1;", {"read-only"}),
    "null": ("u8 *p = x ? &V(g)[0] : 0; u8 v = RD(p[1]);", {"null-pointer"}),
    "member of null": ("struct pair *p = 0; u32 v = RD(p->n);", {"null-pointer"}),
    "freed": ("u8 *h = HEAP(2); RELEASE(h); u8 v = RD(h[x]);", {"use-after-free"}),
    "freed twice": ("u8 *h = HEAP(2); RELEASE(h); if (x == 2) RELEASE(h);", {"double-free"}),
    "not a block": ("LOCAL(u8, t); RELEASE(&V(t));", {"invalid-free"}),
    "inside of a block": ("u8 *h = HEAP(2); RELEASE(h + (x == 3));", {"invalid-free"}),
    "memset too long": ("LOCAL(u8[4], a); MEMSET(V(a), 0, 4 + (x == 1));", {"out-of-bounds"}),
    "memset of nothing": ("u8 *p = 0; MEMSET(p, 0, 0);", set()),
    "memcpy from too little": ("LOCAL(u8[4], a); MEMCPY(V(a), V(g), 3);", {"out-of-bounds"}),
    "after the block": ("u8 *p; { LOCAL_IS(u8, t, 1); p = &V(t); } WR(*p) = 1;", {"use-after-scope"}),
    "in the block": ("u8 *p; { LOCAL_IS(u8, t, 1); p = &V(t); WR(*p) = 1; }", set()),
    "after return": ("u16 *p = give(); u16 v = RD(*p);", {"use-after-scope"}),
    "break ends a block": (
        "u8 *p; while (1) { LOCAL_IS(u8, t, 1); p = &V(t); if (x) break; return 1; } WR(*p) = 1;",
        {"use-after-scope"},
    ),
    "unwritten": ("LOCAL(u8, t); if (x) WR(V(t)) = 1; if (USE(V(t)) == 2) sink = 1;", {"uninitialised"}),
    "unwritten, unused": ("LOCAL(u8, t); u8 v = RD(V(t));", set()),
    "copied": ("LOCAL(u8, t); LOCAL(u8, u); COPY(V(u), V(t)); if (USE(V(u))) sink = 1;", {"uninitialised"}),
    "partly written": ("LOCAL(u32, t); MEMSET(&V(t), 0, 3); if (USE(V(t))) sink = 1;", {"uninitialised"}),
    "fresh in each iteration": (
        "for (u32 k = 0; k < 2; k++) { LOCAL(u8, t); if (!k) WR(V(t)) = 1; if (USE(V(t))) sink++; }",
        {"uninitialised"},
    ),
    "division": ("u32 v = 10 / (x & 3);", {"division-by-zero"}),
    "constants": ("if (x) { i32 v = 1 % 0; } else { u32 v = 1u << 32; }", {"division-by-zero", "overshift"}),
    "shift": ("(void)(1u << x);", {"overshift"}),
    "overflow": ("i32 v = 2147483640 + x;", {"overflow"}),
    "next member": ("LOCAL(struct row, r); WR(V(r).cells[IDX(x & 3, 3)]) = 1;", set()),
}  # fmt: skip


def program_of(body: str) -> Program:
    text = AROUND.format(prelude=PRELUDE, typedefs=TYPEDEFS, structs=STRUCTS, body=body)
    return Program(0, text, (Input("x", 1, 256),), exact=False, library_forks=True, floating=False)


@pytest.mark.parametrize("name", MEANING)
def test_native_runs_name_the_fault(name: str, tmp_path: Path) -> None:
    body, kinds = MEANING[name]
    program = program_of(body)
    line = program.text.split("\n").index(f"  {body}") + 1
    assert fault_truth(program, tmp_path).errors() == {(kind, line) for kind in kinds}


def test_an_index_past_a_member_is_a_fault_of_bounds(tmp_path: Path) -> None:
    errors = fault_truth(program_of(MEANING["next member"][0]), tmp_path, bounds=True).errors()
    assert {kind for kind, _ in errors} == {"out-of-bounds"}


def test_same_seed_same_program() -> None:
    assert generate_faulty(7) == generate_faulty(7)
    assert len({generate_faulty(seed).text for seed in range(30)}) == 30
    assert all(generate_faulty(seed).input_count <= 65536 for seed in range(30))


def test_differences_are_seen(tmp_path: Path) -> None:
    """An error that natively is not there, and one that the engine does not report."""
    program, truth = draw_faulty(5, tmp_path)
    run = run_engine([tmp_path / "program.c"], tmp_path / "run", extra=(*faults.FLAGS, "-O", "0"))
    assert faults.differences(program, truth, run) == []
    kind, line = sorted(truth.errors())[0]
    moved = tuple(
        dataclasses.replace(e, line=1) if (e.kind, e.line) == (kind, line) else e for e in truth.ends
    )
    found = faults.differences(program, dataclasses.replace(truth, ends=moved), run)
    assert any(f.startswith(f"error never found: {kind} at line 1:") for f in found)
    assert any(f.startswith(f"error that no input shows: {kind} at line {line}:") for f in found)
    assert any(f.startswith("test ") for f in found)


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_a_sample_of_the_oracle(seed: int) -> None:
    verdict = faults.check_seed(seed)
    assert verdict.lines == [] and verdict.paths > 0 and verdict.kinds
