"""Each model without forks equals the C function: proved by exploring both on the same symbolic data.

Every path of the plain C function in `reference.h` ends in an assertion that the result of the model is that
of the function; a complete run without an error proves it for all contents of the strings (all 256 values of
each byte, unless told otherwise), of their lengths, and of symbolic counts and characters.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.environment.whole import WHOLE
from tests.machine.harness import Outcome, load, run_program

PROOFS = Path(__file__).parent / "proofs.c"

MEASURE = "strlen strnlen memchr memrchr rawmemchr strchr strchr_a strchrnul strrchr strspn strcspn strpbrk"
COMPARE = "strcmp strncmp memcmp bcmp strcasecmp strncasecmp strstr"
COPY = "strcpy stpcpy strncpy stpncpy strcat strncat strdup strndup"
BLOCKS = "memcpy memmove mempcpy memset"
NUMBERS = "atoi atol strtol strtoul"
GROUPS = [MEASURE, f"{COMPARE} memmem", f"{COPY} {BLOCKS}", NUMBERS]
FAILING = [MEASURE, COMPARE, f"{COPY} {BLOCKS}", NUMBERS]  # memmem is called within its blocks only
SPREAD = [MEASURE, "strcmp strncmp memcmp strstr memmem", f"{COPY} {BLOCKS}", "atoi strtol"]

ALIASES = {
    "index": "strchr",
    "__strchrnul": "strchrnul",
    "rindex": "strrchr",
    "__memrchr": "memrchr",
    "atoll": "atol",
    "strtoll": "strtol",
    "strtoimax": "strtol",
    "strtoull": "strtoul",
    "strtoumax": "strtoul",
    "__stpcpy": "stpcpy",
    "__stpncpy": "stpncpy",
    "__strdup": "strdup",
    "__strndup": "strndup",
    "__isoc23_strtol": "strtol",
    "__isoc23_strtoll": "strtol",
    "__isoc23_strtoul": "strtoul",
    "__isoc23_strtoull": "strtoul",
}


def explore(cases: str, *options: str, strings: str = "whole") -> Outcome:
    chosen = "".join(f"X({case})" for case in cases.split())
    always = ("--strings", strings, "--tests", "none", "--all-errors", "--search", "dfs")
    settings = settings_from_args([str(PROOFS), f"-DCASES={chosen}", *always, *options])
    outcome = run_program(load(settings), settings)
    assert outcome.result.complete, outcome.losses()
    return outcome


def prove(cases: str, *options: str) -> None:
    outcome = explore(cases, *options)
    assert [(e.kind, e.line, e.message) for e in outcome.collector.errors] == []
    assert outcome.result.paths_exit > 2 * len(cases.split())


def prove_failing(cases: str, kinds: set[str], *options: str) -> None:
    """All inputs that make the C function read what it must not are errors of the model, of these kinds."""
    outcome = explore(cases, "-DFAILING=1", *options)
    assert {e.kind for e in outcome.collector.errors} == kinds
    assert outcome.result.paths_exit == 1  # none of the cases
    text = PROOFS.read_text().split("\n")
    failed = {text[e.line - 1] for e in outcome.collector.errors}
    for case in cases.split():
        assert any(f"case_{case}(" in line or f"EXPECT_COPY({case}(" in line for line in failed), case


def test_every_model_has_its_proof() -> None:
    proved = {*" ".join(GROUPS).split(), *ALIASES} - {"strchr_a"}
    assert proved == set(WHOLE)
    for alias, name in ALIASES.items():
        assert WHOLE[alias] is WHOLE[name]


@pytest.mark.parametrize("cases", GROUPS)
def test_results_are_those_of_the_c_function(cases: str) -> None:
    prove(cases)


@pytest.mark.parametrize("cases", FAILING)
def test_reading_past_the_end_is_the_same_error(cases: str) -> None:
    prove_failing(cases, {"out-of-bounds"})


@pytest.mark.parametrize("cases", [MEASURE, COMPARE, COPY, NUMBERS])
def test_uninitialised_bytes_count_only_where_the_c_function_reads_them(cases: str) -> None:
    # What is compared with uninitialised bytes is longer than these: two of them would count as equal.
    options = ("-DHIDDEN=2", "-DM=6") if cases == COMPARE else ("-DHIDDEN=2",)
    prove(cases, *options)
    kinds = {"uninitialised", "out-of-bounds"} if cases == COPY else {"uninitialised"}
    prove_failing(cases, kinds, *options)


@pytest.mark.parametrize("cases", SPREAD)
def test_pointers_may_be_symbolic(cases: str) -> None:
    prove(cases, "-DFAR", "-DN=2", "-DM=2")
    prove_failing(cases.replace("memmem", ""), {"out-of-bounds"}, "-DFAR", "-DN=2", "-DM=2")


@pytest.mark.parametrize("base", [0, 8, 16])
def test_bases(base: int) -> None:
    prove("strtol strtoul", f"-DBASE={base}", "-DN=4", '-DLETTERS="-09xA"')


@pytest.mark.parametrize(
    ("base", "digits"),
    [
        (10, "922337203685477580"),
        (10, "1844674407370955161"),
        (0, "0xffffffffffffff"),
        (8, "177777777777777777777"),
    ],
)
def test_overflow(base: int, digits: str) -> None:
    prove("strtol strtoul", f"-DBASE={base}", f'-DPREFIX="{digits}"', '-DLETTERS="-0578f"')


@pytest.mark.parametrize("options", [(), ("-DFAR",)])
@pytest.mark.parametrize("cases", FAILING)
def test_models_do_not_fork(cases: str, options: tuple[str, ...]) -> None:
    """One path for all results of a function (and one for none of the cases), where forking takes many."""
    assert explore(cases, "-DALONE", *options).result.paths_exit == len(cases.split()) + 1
    assert explore(cases, "-DALONE", *options, strings="fork").result.paths_exit > 3 * len(cases.split())
