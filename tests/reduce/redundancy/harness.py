"""Runs programs with and without redundant state detection, and compares what they covered."""

from __future__ import annotations

from pathlib import Path

from anabranch.cli.flags import settings_from_args
from anabranch.explore.engine import prepare
from anabranch.reduce.redundancy.technique import Redundancy
from anabranch.reduce.setup import reductions
from anabranch.report.events import Collector
from bench.lib.coverage_runs import Covered, explore_covering, load

DECLARED = """
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
unsigned char __VERIFIER_nondet_uchar(void);
#define IN __VERIFIER_nondet_uchar()
#define KEPT __attribute__((noinline))
static volatile int marks;
static KEPT void mark(int n) { marks += n; }
static KEPT int same(int n) { marks = n; return marks; }
"""


def both(directory: Path, source: str, order: str, *options: str) -> tuple[Covered, Covered]:
    """Without and with detection."""
    path = directory / "subject.c"
    path.write_text(DECLARED + source)
    flags = ("--libc", "musl") if "open(" in source else ()
    program = load(path, flags)
    plain = explore_covering(program, path, (*flags, "--search", order))
    assert plain.is_exact
    detecting = (*flags, "--search", order, "--redundancy", "on", *options)
    return plain, explore_covering(program, path, detecting)


def missing(directory: Path, source: str, order: str, *options: str) -> list[tuple[str, int, int]]:
    """Code that is covered without detection only."""
    plain, some = both(directory, source, order, "--no-keep-errors", *options)
    assert some.defects == 0
    return sorted(plain.pieces - some.pieces)


def detected(directory: Path, source: str, *options: str) -> Redundancy:
    """The detection of a run that has come to its end."""
    path = directory / "subject.c"
    path.write_text(DECLARED + source)
    how = ("--redundancy", "on", "--no-keep-errors", *options)
    settings = settings_from_args([str(path), "--tests", "none", "--search", "dfs", *how])
    run = prepare(load(path, how), settings, Collector(), None, reductions(settings))
    assert run.run().defects == 0
    return next(one for one in run.techniques.all if isinstance(one, Redundancy))
