"""klee.h, __VERIFIER_* and ends of the program."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from anabranch.environment import MODELS, NONDET, OVERRIDES
from anabranch.expr import eq, var
from anabranch.machine.ends import AT_EXIT
from tests.environment.fake import FakeMachine, ended, index_of

KLEE_H = [
    "klee_define_fixed_object",
    "klee_make_symbolic",
    "klee_range",
    "klee_int",
    "klee_silent_exit",
    "klee_abort",
    "klee_report_error",
    "klee_get_obj_size",
    "klee_print_expr",
    "klee_choose",
    "klee_assert_fail",
    "klee_is_symbolic",
    "klee_is_replay",
    "klee_assume",
    "klee_warning",
    "klee_warning_once",
    "klee_prefer_cex",
    "klee_posix_prefer_cex",
    "klee_mark_global",
    "klee_get_valuef",
    "klee_get_valued",
    "klee_get_valuel",
    "klee_get_valuell",
    "klee_get_value_i32",
    "klee_get_value_i64",
    "klee_check_memory_access",
    "klee_set_forking",
    "klee_stack_trace",
    "klee_print_range",
    "klee_open_merge",
    "klee_close_merge",
    "klee_get_errno",
    "klee_open_qmerge",
    "klee_close_qmerge",
]


def test_all_of_klee_h_is_there() -> None:
    assert not set(KLEE_H) - set(MODELS)
    assert MODELS["klee_abort"].noreturn and MODELS["klee_report_error"].noreturn


def test_the_native_runtime_has_every_input_function() -> None:
    runtime = (Path(__file__).parents[2] / "anabranch" / "native" / "klee_runtime.c").read_text()
    for name in KLEE_H:
        assert re.search(rf"\b{name}\(", runtime), name
    for name in NONDET:
        assert f"NONDET({name}," in runtime or f"__VERIFIER_nondet_{name}(void)" in runtime, name


def test_make_symbolic_names_and_sizes() -> None:
    m = FakeMachine()
    addr, name = m.place(bytes(4)), m.place(b"x\0")
    m.call("klee_make_symbolic", addr, 4, name)
    m.call("klee_make_symbolic", addr, 4, 0)
    assert m.records == [("x", 4), ("unnamed", 4)]
    assert m.call("klee_is_symbolic", m.load(addr, 4)) == 1
    assert m.call("klee_is_symbolic", 4) == 0


def test_make_symbolic_used_wrongly() -> None:
    m = FakeMachine()
    addr, name = m.place(bytes(4)), m.place(b"x\0")
    constant = m.place(bytes(4), readonly=True)
    wrong_size = ended(lambda: m.call("klee_make_symbolic", addr, 3, name))
    assert wrong_size.how == "user"
    assert wrong_size.what == (
        "Wrong size given to klee_make_symbolic: 3 bytes instead of the 4 bytes of the object"
    )
    assert ended(lambda: m.call("klee_make_symbolic", addr + 1, 3, name)).how == "ptr"
    readonly = ended(lambda: m.call("klee_make_symbolic", constant, 4, name))
    assert (readonly.how, readonly.what) == ("user", "cannot make readonly object symbolic")
    assert not m.records


@pytest.mark.parametrize(("begin", "end", "value"), [(0, 10, 3), (-5, 5, -2), (7, 8, None)])
def test_range(begin: int, end: int, value: int | None) -> None:
    m = FakeMachine()
    m.next_values = [] if value is None else [value & 0xFFFFFFFF]
    result = m.call("klee_range", begin & 0xFFFFFFFF, end & 0xFFFFFFFF, m.place(b"r\0"))
    if value is None:
        assert result == begin and not m.records
    else:
        assert m.value(result) == value & 0xFFFFFFFF
        assert m.records == [("r", 4)] and m.assumed
        for outside in (begin - 1, end):
            variable = index_of(result)
            m.inputs[variable] = outside & 0xFFFFFFFF
            assert not all(m.value(cond) for cond in m.assumed)


def test_an_empty_range_is_a_user_error() -> None:
    m = FakeMachine()
    assert ended(lambda: m.call("klee_range", 3, 3, m.place(b"r\0"))).how == "user"


def test_choose() -> None:
    m = FakeMachine()
    m.next_values = [2]
    assert m.value(m.call("klee_choose", 3)) == 2
    assert m.records == [("klee_choose", 8)] and len(m.assumed) == 1
    assert ended(lambda: m.call("klee_choose", 0)).how == "silent"


def test_assumptions() -> None:
    m = FakeMachine()
    x = var("x64", 64)
    m.inputs[index_of(x)] = 5
    m.call("klee_assume", x)
    assert len(m.assumed) == 1
    false = ended(lambda: m.call("klee_assume", 0))
    assert (false.how, false.what) == ("user", "invalid klee_assume call (provably false)")
    assert ended(lambda: m.call("__VERIFIER_assume", 0)).how == "silent"
    m.call("klee_prefer_cex", 0, x)
    assert len(m.preferred) == 1


def test_one_value_is_taken_without_a_constraint() -> None:
    m = FakeMachine()
    x = var("x32", 32)
    m.inputs[index_of(x)] = 7
    assert m.call("klee_get_value_i32", x) == 7
    assert not m.assumed and not m.decisions
    assert m.preferred[0] is eq(x, 7, 32)
    assert m.call("klee_get_valued", 0x3FF0000000000000) == 0x3FF0000000000000


def test_memory_access_checks() -> None:
    m = FakeMachine()
    addr = m.place(bytes(4))
    m.call("klee_check_memory_access", addr, 4)
    assert ended(lambda: m.call("klee_check_memory_access", addr, 5)).how == "invalid-pointer"
    assert ended(lambda: m.call("klee_check_memory_access", 0, 1)).how == "ptr"
    assert m.call("klee_get_obj_size", addr) == 4


def test_ends() -> None:
    m = FakeMachine()
    text = m.place(b"x > 0\0")
    for name in ("__assert_fail", "klee_assert_fail"):
        failed = ended(partial(m.call, name, text, 0, 3, 0))
        assert (failed.how, failed.what) == ("assert", "ASSERTION FAIL: x > 0")
    assert ended(lambda: m.call("__assert_rtn", 0, 0, 3, text)).what == "ASSERTION FAIL: x > 0"
    assert ended(lambda: m.call("abort")).how == "abort"
    assert ended(lambda: m.call("klee_silent_exit", 0)).how == "silent"
    assert ended(lambda: m.call("exit", 3)).info == {"handlers": AT_EXIT}
    assert ended(lambda: m.call("_exit", 3)).info == {"handlers": None}
    assert ended(lambda: m.call("longjmp", 0, 0)).what == 1
    report = ended(lambda: m.call("klee_report_error", text, 7, m.place(b"bad\0"), m.place(b"ptr\0")))
    assert (report.how, report.what) == ("report-error", "bad")
    assert report.info == {"file": "x > 0", "line": 7, "suffix": "ptr"}
    for name in sorted(OVERRIDES):
        assert ended(partial(m.call, name)).how == "reach-error"


def test_verifier_assert() -> None:
    m = FakeMachine()
    m.call("__VERIFIER_assert", 1)
    assert ended(lambda: m.call("__VERIFIER_assert", 0)).how == "assert"


@pytest.mark.parametrize("suffix", sorted(NONDET))
def test_nondet(suffix: str) -> None:
    m = FakeMachine()
    m.next_values = [1]
    value = m.call(f"__VERIFIER_nondet_{suffix}")
    assert m.records == [(f"nondet_{suffix}", NONDET[suffix].width // 8)]
    assert m.value(value) == 1
    if suffix == "bool":
        assert value.w == 1
        assert len(m.assumed) == 1
    else:
        assert value.w == NONDET[suffix].width


def test_nondet_memory_may_be_part_of_an_object() -> None:
    m = FakeMachine()
    addr = m.place(bytes(8))
    m.call("__VERIFIER_nondet_memory", addr + 2, 3)
    assert m.records == [("nondet_memory", 3)]
    assert [m.call("klee_is_symbolic", b) for b in m.read_bytes(addr, 8)] == [0, 0, 1, 1, 1, 0, 0, 0]


def test_messages_and_hooks() -> None:
    m = FakeMachine()
    text = m.place(b"note\0")
    m.call("klee_warning_once", text)
    m.call("klee_warning_once", text)
    m.call("klee_warning", text)
    m.call("klee_print_range", text, 5)
    m.call("klee_print_expr", text, 1)
    m.call("klee_stack_trace")
    assert m.warnings == ["note", "note", "note:5", "note:1", "#0 in main"]
    m.call("klee_open_merge")
    m.call("klee_close_merge")
    assert m.regions == [True, False]
    m.call("klee_set_forking", 0)
    assert not m.forking
    assert m.call("getenv", text) == 0
    m.call("atexit", 77)
    assert m.handlers == [(77,)]
    m.store(m.call("__errno_location"), 4, 5)
    assert m.call("klee_get_errno") == 5
