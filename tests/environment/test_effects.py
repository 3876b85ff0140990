"""Effects that are not modelled are losses at the program's call; fixed answers are listed as assumptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.cli.main import main

HEAD = """#include <dlfcn.h>
#include <fenv.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static void *thread(void *p) { return p; }
static void handler(int signal) { (void)signal; }
int main(void) {
"""
LINE = len(HEAD.splitlines()) + 1
THREAD = "another thread or process"

LOSSES = {
    "pthread_create": ("pthread_t t; return pthread_create(&t, 0, thread, 0);", THREAD),
    "posix_spawn": ("char *a[] = {0}; pid_t p; return posix_spawn(&p, \"/x\", 0, 0, a, a);", THREAD),
    "system": ("return system(\"ls\");", THREAD),
    "popen": ("return popen(\"ls\", \"r\") != 0;", THREAD),
    "dlopen": ("return dlopen(\"x\", 0) != 0;", "dynamic loading"),
    "fork": ("return fork();", "unmodelled system call fork"),
    "setpriority": ("return setpriority(PRIO_PROCESS, 0, 5);", "another priority"),
    "setgroups": ("gid_t g = 7; return setgroups(1, &g);", "other supplementary groups"),
    "a signal to itself": (
        "signal(SIGUSR1, handler); return raise(SIGUSR1);", "signal that would be delivered",
    ),
    "fesetround": ("return fesetround(FE_UPWARD) ? 0 : 9;", "rounding mode other than to nearest"),
    "fetestexcept": ("return fetestexcept(FE_ALL_EXCEPT);", "flags of floating-point exceptions"),
}  # fmt: skip
ANSWERS = {
    "a variable of the environment": ("return getenv(\"HOME\") != 0;", 'getenv("HOME")', "is unset"),
    "the clock": ("return time(0) > 5;", "the clock", "starts at 2020-09-13 12:26:40 UTC"),
    "the priority": ("return getpriority(PRIO_PROCESS, 0);", "the priority", "is 0"),
    "the user": ("return getuid();", "the user", "is the superuser"),
    "rand": ("return rand() & 1;", "rand", "gives the numbers of musl"),
}  # fmt: skip


def explore(tmp_path: Path, body: str) -> dict[str, object]:
    (tmp_path / "p.c").write_text(f"{HEAD}{body}\n}}\n")
    assert main(["run", "p.c", "--output-dir", "out"]) == 0
    found: dict[str, object] = json.loads((tmp_path / "out" / "run.json").read_text())
    return found


@pytest.mark.parametrize("name", LOSSES)
def test_an_effect_that_is_not_modelled_is_a_loss(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body, kind = LOSSES[name]
    run = explore(tmp_path, body)
    losses: dict[str, dict[str, dict[str, int]]] = run["losses"]  # type: ignore[assignment]
    assert not run["complete"] and list(losses) == [kind]
    assert all(place.endswith(f"p.c:{LINE}") for place in losses[kind]["places"])


@pytest.mark.parametrize("name", ANSWERS)
def test_a_fixed_answer_is_an_assumption(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    body, asked, answer = ANSWERS[name]
    run = explore(tmp_path, body)
    answers = run["assumptions"]["fixed_answers"]  # type: ignore[index]
    assert run["complete"] and answers[asked]["answer"] == answer
    assert answers[asked]["place"].endswith(f"p.c:{LINE}")
    assert f"Assumed: {asked} {answer}" in capsys.readouterr().out


def test_who_asks_nothing_assumes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = explore(tmp_path, "return fesetround(FE_TONEAREST);")
    assert run["complete"] and not run["assumptions"]["fixed_answers"]  # type: ignore[index]
