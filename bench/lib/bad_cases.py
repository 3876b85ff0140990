"""Malformed inputs, each with the exit codes and the words that a clean answer has."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bench.lib.native import clang_command

GOOD = """\
#include "klee/klee.h"
int main(void) {
  unsigned char x;
  klee_make_symbolic(&x, sizeof x, "x");
  int table[4] = {1, 2, 3, 4}, sum = 0;
  for (int i = 0; i < (x & 3); i++) sum += table[i];
  return sum;
}
"""


@dataclass(frozen=True)
class BadCase:
    """How to make the input in an empty directory, and what the engine has to answer.

    ``make`` returns the arguments; ``words`` is a pattern that stderr has to match (empty: no demand);
    ``long`` allows more than one line, as the messages of a compiler are.
    """

    name: str
    make: Callable[[Path], list[str]]
    codes: tuple[int, ...] = (2,)
    words: str = ""
    long: bool = False


def _file(directory: Path, name: str, content: str | bytes) -> str:
    path = directory / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def _run(*arguments: str) -> Callable[[Path], list[str]]:
    """The good program with more arguments."""
    return lambda d: ["run", _file(d, "good.c", GOOD), "--quiet", "--output-dir", str(d / "out"), *arguments]


def _source(content: str | bytes, name: str = "bad.c", *more: str) -> Callable[[Path], list[str]]:
    return lambda d: ["run", _file(d, name, content), "--quiet", "--output-dir", str(d / "out"), *more]


def good_ir(directory: Path, bitcode: bool = False) -> bytes:
    """The good program as LLVM text or bitcode."""
    import subprocess

    source, output = _file(directory, "good.c", GOOD), directory / "good.out"
    flags = ["-O1", "-g", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c" if bitcode else "-S"]
    subprocess.run([*clang_command(), *flags, source, "-o", str(output)], check=True)
    return output.read_bytes()


def _bitcode(change: Callable[[bytes], bytes]) -> Callable[[Path], list[str]]:
    return lambda d: _source(change(good_ir(d, bitcode=True)), "bad.bc")(d)


def _text_ir(change: Callable[[str], str]) -> Callable[[Path], list[str]]:
    return lambda d: _source(change(good_ir(d).decode()), "bad.ll")(d)


def _flip(data: bytes, seed: int, count: int = 1) -> bytes:
    rng = random.Random(seed)
    out = bytearray(data)
    for _ in range(count):
        out[rng.randrange(4, len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _mutate(text: str, seed: int) -> str:
    """Delete, double or swap a line, or change a character inside the functions."""
    rng = random.Random(seed)
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("define"))
    at = rng.randrange(start + 1, min(start + 40, len(lines) - 1))
    kind = seed % 4
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[at])
    elif kind == 2:
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    else:
        column = rng.randrange(max(1, len(lines[at])))
        lines[at] = lines[at][:column] + rng.choice("%@!{}i0x,") + lines[at][column + 1 :]
    return "\n".join(lines)


def _in_file(d: Path) -> list[str]:
    return ["run", _file(d, "good.c", GOOD), "--output-dir", _file(d, "plain", "x") + "/out"]


def _existing_output(d: Path) -> list[str]:
    (d / "out").mkdir()
    return ["run", _file(d, "good.c", GOOD), "--output-dir", str(d / "out")]


def _dangling(d: Path) -> list[str]:
    (d / "link.c").symlink_to(d / "nothing.c")
    return ["run", str(d / "link.c")]


def _config(content: str) -> Callable[[Path], list[str]]:
    return lambda d: [*_run()(d), "--config", _file(d, "settings.toml", content)]


def _two_mains(d: Path) -> list[str]:
    return ["run", _file(d, "a.c", GOOD), _file(d, "b.c", GOOD), "--output-dir", str(d / "out")]


COMMAND_LINE = (
    BadCase("no arguments", lambda d: [], words="usage", long=True),
    BadCase("unknown command", lambda d: ["rum"], words="not a command"),
    BadCase("file as command", lambda d: [_file(d, "good.c", GOOD)], words="anabranch run"),
    BadCase("no input", lambda d: ["run"], words="(?i)no |input|file"),
    BadCase("absent file", lambda d: ["run", str(d / "absent.c")], words="no such file"),
    BadCase("directory as input", lambda d: ["run", str(d)], words="directory"),
    BadCase("dangling link", _dangling, words="no such file"),
    BadCase("unknown flag", _run("--max-tine", "3"), words="max-tine"),
    BadCase("flag without value", _run("--max-forks"), words="max-forks"),
    BadCase("number expected", _run("--max-forks", "many"), words="many"),
    BadCase("negative number", _run("--max-tests", "-4"), words="max-tests|-4"),
    BadCase("bad time", _run("--max-time", "5parsecs"), words="5parsecs"),
    BadCase("bad memory", _run("--max-memory", "lots"), words="lots"),
    BadCase("unknown search order", _run("--search", "bestfirst"), words="bestfirst"),
    BadCase("unknown choice of tests", _run("--tests", "some"), words="some"),
    BadCase("unknown check", _run("--check", "spelling"), words="spelling"),
    BadCase("bad optimisation level", _run("-O7"), words="7"),
    BadCase("bad macro", _run("-D", "3x=1"), words="3x"),
    BadCase("bad entry name", _run("--entry", "no such name"), words="no such name"),
    BadCase("absent entry", _run("--entry", "start_here"), words="start_here"),
    BadCase("output directory exists", _existing_output, words="exists"),
    BadCase("output inside a file", _in_file, words="out"),
    BadCase("output cannot be made", lambda d: ["run", _file(d, "g.c", GOOD), "--output-dir", "/proc/x/y"],
            words="/proc/x"),
    BadCase("text cannot be written", _run("--emit-ir", "/proc/x/y.ll"), words="/proc/x"),
    BadCase("settings are not TOML", _config("search = [dfs"), words="settings.toml"),
    BadCase("unknown setting", _config("serch = 'dfs'\n"), words="serch"),
    BadCase("absent test", lambda d: ["show-test", str(d / "x.ktest")], codes=(1, 2), words="x.ktest"),
    BadCase("truncated test", lambda d: ["show-test", _file(d, "x.ktest", b"KTEST\0\0\0")], codes=(1, 2),
            words="x.ktest"),
    BadCase("not a test", lambda d: ["show-test", _file(d, "x.ktest", b"\x7fELF" * 9)], codes=(1, 2),
            words="x.ktest"),
)  # fmt: skip

PROGRAMS = (
    BadCase("syntax error", _source("int main(void) { return 1 +; }\n"), words="expected", long=True),
    BadCase("type error", _source("struct s; int f(void) { struct s v; }\n"), words="incomplete", long=True),
    BadCase("missing header", _source('#include "nowhere.h"\n'), words="nowhere.h", long=True),
    BadCase("no main", _source("int helper(void) { return 1; }\n"), words="main"),
    BadCase("empty C file", _source(""), words="no function"),
    BadCase("binary as C", _source(bytes(range(256)) * 40), words="", long=True),
    BadCase("not UTF-8", _source(b'int main(void) { return "\xff\xfe"[0] == 0; }\n'), codes=(0,), long=True),
    BadCase("two definitions", _two_mains, words="main", long=True),
    BadCase("unknown kind of file", _source("hello", "bad.xyz"), words="bad.xyz"),
    BadCase("empty bitcode", _source(b"", "bad.bc"), words="bad.bc"),
    BadCase("text as bitcode", _source("not bitcode at all\n", "bad.bc"), words="bad.bc"),
    BadCase("bitcode cut in half", _bitcode(lambda b: b[: len(b) // 2]), words="bad.bc"),
    BadCase("bitcode without its end", _bitcode(lambda b: b[:-8]), codes=(0, 2)),
    BadCase("bits flipped in bitcode (1)", _bitcode(lambda b: _flip(b, 1)), codes=(0, 2), long=True),
    BadCase("bits flipped in bitcode (20)", _bitcode(lambda b: _flip(b, 2, 20)), codes=(0, 2), long=True),
    BadCase("empty text", _source("", "bad.ll"), words="empty"),
    BadCase("garbage as text", _source("\x00\x01 define define", "bad.ll"), words="bad.ll", long=True),
    BadCase("text cut in half", _text_ir(lambda t: t[: len(t) // 2]), words="bad.ll", long=True),
    BadCase("unknown opcode", _text_ir(lambda t: re.sub(r"= load ", "= lod ", t, count=1)), words="bad.ll",
            long=True),
    BadCase("wrong type", _text_ir(lambda t: re.sub(r"ret i32 %", "ret i64 %", t, count=1)), words="bad.ll",
            long=True),
    BadCase("undefined value", _text_ir(lambda t: re.sub(r"ret i32 %\w+", "ret i32 %nowhere", t, count=1)),
            words="bad.ll", long=True),
    *(
        BadCase(f"mutated text {seed}", _text_ir(partial(_mutate, seed=seed)), codes=(0, 2), long=True)
        for seed in range(8)
    ),
)  # fmt: skip


def _checked(case: BadCase) -> BadCase:
    """The same program for `anabranch check`, which needs no main."""
    codes = (0,) if case.name == "no main" else case.codes
    return replace(case, name=f"check: {case.name}", make=lambda d: ["check", *case.make(d)[1:]], codes=codes)


CASES = (*COMMAND_LINE, *PROGRAMS, *map(_checked, PROGRAMS))
