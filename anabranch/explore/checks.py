"""The checks of a run in one table: what each looks for, which kinds of errors it makes, how it is made.

Flags, help, docs/reference.md, what the front end compiles in, what replay builds natively and "checks made"
in the report are all read from here. Some checks the machine makes in every program; the others can be chosen
with `--check` and `--no-check`, and mean what the check of the same name of clang's UndefinedBehaviorSanitizer
means: C files are compiled with it, and the machine reports what it finds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

UNDEFINED = "undefined"
"""The name that stands for all checks of clang's `-fsanitize=undefined`."""
MEMTRACK = "memtrack"
MEMCLEANUP = "memcleanup"
LEAK = "leak"
"""The name that stands for both, which are SV-COMP's `valid-memtrack` and `valid-memcleanup`."""


@dataclass(frozen=True, slots=True)
class Check:
    """One row: `kinds` are the errors that it reports, `sanitizers` clang's names for it."""

    name: str
    explanation: str
    kinds: tuple[str, ...]
    sanitizers: tuple[str, ...] = ()
    always: bool = False
    """Made by the machine in any program, and not to be switched off."""
    default: bool = False
    """Made unless `--no-check` says otherwise."""
    undefined: bool = False
    """One of those that `--check undefined` stands for."""


CHECKS: tuple[Check, ...] = (
    Check(
        "memory", "accesses outside of live objects, and wrong frees",
        ("null-pointer", "wild-pointer", "out-of-bounds", "use-after-free", "use-after-scope", "double-free",
         "invalid-free", "invalid-pointer", "read-only"), always=True,
    ),
    Check("uninitialised", "uses of uninitialised memory", ("uninitialised",), always=True),
    Check(
        "division", "division by zero, and the one quotient that does not fit",
        ("division-by-zero", "overflow"), ("integer-divide-by-zero",), always=True,
    ),
    Check(
        "shift-exponent", "shifts by a negative number, or by as many bits as the number has",
        ("overshift",), ("shift-exponent",), always=True,
    ),
    Check(
        "assertions", "assertions that fail, and calls of abort",
        ("assert", "abort", "reach-error", "report-error"), always=True,
    ),
    Check(
        "control", "unreachable code that is reached, and calls of what is no such function",
        ("unreachable", "bad-call"), ("unreachable", "return"), always=True,
    ),
    Check("stack", "calls nested too deeply, locals too large", ("stack-overflow",), always=True),
    Check(
        "bounds", "an index past the end of an array, also where the array is a member of a struct",
        ("out-of-bounds",), ("array-bounds",), undefined=True, default=True,
    ),
    Check(
        "vla-bound", "an array whose length is not positive", ("vla-bound",), ("vla-bound",),
        default=True, undefined=True,
    ),
    Check(
        "overflow", "signed arithmetic whose result does not fit", ("overflow",),
        ("signed-integer-overflow",), undefined=True,
    ),
    Check(
        "shift", "as shift-exponent, and bits shifted out of a signed number",
        ("overshift", "shift-base"), ("shift",), undefined=True,
    ),
    Check(
        "null", "null pointers used as objects, even where nothing is read or written", ("null-pointer",),
        ("null",), undefined=True,
    ),
    Check(
        "alignment", "pointers to addresses that do not suit their type", ("misaligned",), ("alignment",),
        undefined=True,
    ),
    Check(
        "bool", "a bool that is neither 0 nor 1", ("invalid-value",), ("bool",), undefined=True,
    ),
    Check(
        "enum", "an enum with a value that it cannot hold (in C each value of its integer can)",
        ("invalid-value",), ("enum",), undefined=True,
    ),
    Check(
        "float-cast", "a floating-point number converted to an integer type that cannot hold it",
        ("float-cast",), ("float-cast-overflow",), undefined=True,
    ),
    Check(
        "pointer-overflow", "pointer arithmetic that wraps around, or with a null pointer",
        ("pointer-overflow",), ("pointer-overflow",), undefined=True,
    ),
    Check(
        "nonnull", "null where an attribute nonnull or returns_nonnull forbids it", ("nonnull",),
        ("nonnull-attribute", "returns-nonnull-attribute"), undefined=True,
    ),
    Check(
        "builtin", "compiler builtins given a value that they do not allow", ("invalid-builtin",),
        ("builtin",), undefined=True,
    ),
    Check(
        MEMTRACK, "memory lost: not freed at the end, and nothing points to it any more (implies -O 0)",
        ("leak",),
    ),
    Check(MEMCLEANUP, "memory never freed before the end of the program", ("never-freed",)),
)  # fmt: skip
BY_NAME: dict[str, Check] = {check.name: check for check in CHECKS}
CHOICES: tuple[str, ...] = (UNDEFINED, LEAK, *(check.name for check in CHECKS if not check.always))
"""What `--check` and `--no-check` may name."""


def chosen(wanted: Iterable[str] = (), unwanted: Iterable[str] = ()) -> tuple[Check, ...]:
    """The checks of a run in the order of the table: those always made, the defaults, those asked for."""
    more, less = expanded(wanted), expanded(unwanted)
    return tuple(
        check
        for check in CHECKS
        if check.always or check.name in more or (check.default and check.name not in less)
    )


def makes(name: str, wanted: Iterable[str], unwanted: Iterable[str]) -> bool:
    """Is a check one of those chosen?"""
    return BY_NAME[name] in chosen(wanted, unwanted)


def expanded(names: Iterable[str]) -> frozenset[str]:
    """Names of checks, with the parts of those that stand for several."""
    found = set(names)
    if LEAK in found:
        found |= {MEMTRACK, MEMCLEANUP}
    if UNDEFINED in found:
        found |= {check.name for check in CHECKS if check.undefined}
    return frozenset(found)


FOLDED = ("integer-divide-by-zero", "shift-exponent")
"""clang's names of checks that the machine makes itself, except of operations on constants alone: clang folds
those before the machine sees them, and only its own check still tells that they are wrong."""


def compiled_in(checks: Iterable[Check]) -> tuple[str, ...]:
    """clang's names of the checks that C files are compiled with; the machine makes the others itself."""
    return (*FOLDED, *(name for check in checks if not check.always for name in check.sanitizers))


def help_text() -> str:
    """What `--check` says in the help: every name with its explanation."""
    rows = [f"{check.name} ({check.explanation})" for check in CHECKS if not check.always]
    parts = ", ".join(check.name for check in CHECKS if check.undefined)
    both = f"{LEAK} is {MEMTRACK} and {MEMCLEANUP}"
    return f"look for more (repeatable): {'; '.join(rows)}; {UNDEFINED} is {parts}; {both}"
