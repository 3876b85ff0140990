"""Locals used when they are gone are shown natively, and nothing else is taken for that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main
from anabranch.replay.record import record_text
from anabranch.report.ktest import encode

# Each line with a comment is reached by the input that it compares with, and ends as the comment says.
PROGRAM = """\
#include "klee/klee.h"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
static int *kept;
static char *kept_text;
static int *small(int n) { int t[4] = {n}; kept = t; return n ? kept + 1 : 0; }
static int large(int n) { char b[30000]; b[n] = 1; kept = (int *)(b + n); return b[n]; }
static char *text(void) { char t[8] = "abc"; kept_text = t; return kept_text; }
static int below(int *p) { return small(*p) ? *p : 1; }
static int deep(int n) { int t[5000] = {n}; kept = t; return n ? deep(n - 1) + kept[0] - kept[0] + t[0] : 0; }
static jmp_buf back;
static void leave(int n) { int t[9] = {n}; kept = t; if (t[0] == n) longjmp(back, 1); }
static int aligned(void) { _Alignas(256) char t[300]; kept_text = t; return (unsigned long)kept_text % 256; }
int main(void) {
  unsigned char x;
  int sum = 0, *p = 0, outer = 4;
  klee_make_symbolic(&x, 1, "x");
  if (x == 1) { p = small(3); sum += *p; } /* use-after-scope */
  if (x == 2) { small(0); *kept = 1; } /* use-after-scope */
  if (x == 3) { large(9); sum = *(char *)kept; } /* use-after-scope */
  if (x == 4) { { int t = 3; p = &t; } sum += *p; } /* use-after-scope */
  if (x == 5) { for (int i = 0; i < 3; i++) { int t[3] = {i}; p = t; } p[1] = 2; } /* use-after-scope */
  if (x == 6) { { int t[5]; p = t; } memset(p, 0, sizeof *p); } /* use-after-scope */
  if (x == 7) { sum = strlen(text()); } /* use-after-scope */
  if (x == 8) { printf("%s\\n", text()); } /* use-after-scope */
  if (x == 9) { char b[9]; strcpy(b, text()); sum = b[0]; } /* use-after-scope */
  if (x == 10) { char b[3]; sprintf(b, "%d", 123 + x); sum = b[0]; } /* out-of-bounds */
  if (x == 17) { char b[3]; sum = snprintf(b, 3, "%d", 123 + x) * 4 + 5; } /* exit 17 */
  if (x == 11) { sum = below(&outer) == 4 ? 11 : 0; } /* exit 11 */
  if (x == 12) { sum = deep(600) > 0 ? 12 : 0; } /* exit 12 */
  if (x == 13) { for (int i = 0; i < 300000; i++) if (!setjmp(back)) leave(i); sum = 13; } /* exit 13 */
  if (x == 14) { int n = 600000; while (n--) sum += below(&outer); sum = sum / 4 - 599986; } /* exit 14 */
  if (x == 15) { for (int i = 0; i < 3; i++) { int t = i; p = &t; sum += *p; } sum += 12; } /* exit 15 */
  if (x == 16) { sum = 16 + aligned(); } /* exit 16 */
  return sum;
}
"""


def expectations() -> list[tuple[int, str]]:
    """Input and expected end, from the comments."""
    found = []
    for line in PROGRAM.splitlines():
        if line.startswith("  if (x == "):
            number = int(line.split("x == ")[1].split(")")[0])
            found.append((number, line.rsplit("/* ")[1].removesuffix(" */")))
    return found


def test_each_line_ends_as_its_comment_says(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PROGRAM)
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"settings": {"inputs": ["f.c"]}}))
    (run / "program.json").write_text(record_text((Path("f.c"),), tmp_path))
    lines = []
    for number, expected in expectations():
        (run / f"test{number:06d}.ktest").write_bytes(encode([("x", bytes([number]))]))
        word, _, code = expected.partition(" ")
        end: dict[str, object] = {"end": "error", "kind": word}
        if word == "exit":
            end = {"end": "exit", "exit_code": int(code)}
        lines.append(json.dumps({"test": number, **end}))
    (run / "tests.jsonl").write_text("\n".join(lines) + "\n")
    main(["replay", str(run)])
    document = json.loads((run / "replay.json").read_text())
    assert [(d["test"], d["problem"]) for d in document["differ"]] == []
    assert document["compared"] == len(lines) == 17


def test_without_a_fault_such_a_prediction_is_a_mismatch(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(
        "int main(void) { int x = 0, *p = &x; { int y = 1; *p = y; } return *p; }\n"
    )
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"settings": {"inputs": ["f.c"]}}))
    (run / "program.json").write_text(record_text((Path("f.c"),), tmp_path))
    (run / "test000001.ktest").write_bytes(encode([]))
    (run / "tests.jsonl").write_text(
        json.dumps({"test": 1, "end": "error", "kind": "use-after-scope"}) + "\n"
    )
    assert main(["replay", str(run)]) == 1


@pytest.mark.parametrize(
    "source",
    [
        "static int *f(void) { int t[2] = {1, 2}, *p = t; return p; } int main(void) { return f()[1]; }",
        "int *k; static void f(int n) { int t = n; k = &t; } int main(void) { f(1); *k = 2; return 0; }",
    ],
    ids=["returned", "kept"],
)
def test_what_the_engine_finds_after_a_return_is_shown(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(source + "\n")
    assert main(["run", "p.c", "-O", "0", "--output-dir", "out", "--replay", "-q"]) == 0
    assert [e["kind"] for e in json.loads((tmp_path / "out" / "run.json").read_text())["errors"]] == [
        "use-after-scope"
    ]
    document = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert document["agrees"] and document["compared"] == 1
