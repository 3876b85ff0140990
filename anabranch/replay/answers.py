"""Functions without a body in a native program: stubs that answer as the test says (`native/answers.c`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from anabranch.contracts import NOTHING_KNOWN, Contract
from anabranch.environment.registry import is_unknown
from anabranch.ir import read_module
from anabranch.ir.module import Function
from anabranch.ir.types import VOID

_DECLARED = re.compile(
    r"^declare (?:!dbg !\d+ )?(?P<head>.*?) @(?P<name>[\w.$-]+)\((?P<given>.*)\)[^()]*$", re.M
)
_TYPE = re.compile(r"(\{.*\}|<.*>|\[.*\]|\S+)$")
_ANSWER = "declare void @anabranch_answer(ptr, ptr, i64, ptr, i64)"
_EXIT = "declare void @exit(i32)"
_CHECKS = ("__ubsan_", "__asan_", "__sanitizer_", "anabranch_")  # defined by the run-time files


def with_stubs(
    text: str, called: Collection[str], all_unknown: bool, contracts: Mapping[str, Contract]
) -> str:
    """A module in which functions without a body are defined: those that the run called, or all of them.

    `contracts` tell which of them end the program, and what they access.
    """
    functions = read_module(text).functions
    wanted = set(called)
    if all_unknown:
        wanted |= {f.name for f in functions.values() if is_unknown(f) and not f.name.startswith(_CHECKS)}
    added: list[str] = []

    def define(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in wanted or name not in functions or "extern_weak" in found["head"]:
            return found[0]
        contract = contracts.get(name, NOTHING_KNOWN)
        added.append(_global(name, len(added)))
        return "\n".join(_stub(functions[name], found, contract, len(added) - 1))

    text = _DECLARED.sub(define, text)
    if not added:
        return text
    runtime = [_ANSWER, *((_EXIT,) if "exit" not in functions else ())]
    return "\n".join([text, *added, *runtime, ""])


def _global(name: str, number: int) -> str:
    return f'@anabranch.stub.{number} = private constant [{len(name) + 1} x i8] c"{name}\\00"'


def _stub(function: Function, found: re.Match[str], contract: Contract, number: int) -> Iterator[str]:
    given = [part for part in _split(found["given"]) if part]
    named = [part if part == "..." else f"{part} %a{n}" for n, part in enumerate(given)]
    count = sum(part != "..." for part in given)
    result = function.type.ret
    kind = _TYPE.search(found["head"])
    assert kind is not None
    yield f"define {found['head']} @{function.name}({', '.join(named)}) {{"
    for n in contract.reads:
        if n < count and given[n].startswith("ptr"):
            yield f"  %read{n} = load volatile i8, ptr %a{n}"
    if function.noreturn or contract.noreturn:
        yield "  call void @exit(i32 0)\n  unreachable\n}"
        return
    size = 0 if result is VOID else result.size
    yield f"  %result = alloca [{max(size, 1)} x i8], align 16"
    yield f"  %given = alloca [{max(count, 1)} x ptr], align 8"
    for n in range(count):
        value = f"%a{n}" if given[n].startswith("ptr") else "null"
        yield f"  %at{n} = getelementptr ptr, ptr %given, i64 {n}"
        yield f"  store ptr {value}, ptr %at{n}"
    yield (
        f"  call void @anabranch_answer(ptr @anabranch.stub.{number}, ptr %result, i64 {size}, ptr %given, "
        f"i64 {count})"
    )
    if result is VOID:
        yield "  ret void\n}"
        return
    yield f"  %value = load {kind[1]}, ptr %result\n  ret {kind[1]} %value\n}}"


def _split(given: str) -> list[str]:
    """Parameters of a declaration: commas inside of brackets do not part them."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(given):
        depth += sign in "({[<"
        depth -= sign in ")}]>"
        if sign == "," and not depth:
            parts.append(given[start:at].strip())
            start = at + 1
    return [*parts, given[start:].strip()]


def answers_text(answers: Mapping[str, Any]) -> str:
    """The file that the stubs read."""
    lines = []
    for number, size, _ in answers["objects"]:
        lines.append(f"object {number} {size}")
    for number, _, puts in answers["objects"]:
        lines += [f"in {number} {_put(put)}" for put in puts]
    for function, result, writes in answers["calls"]:
        lines.append(f"call {function}")
        lines += [f"result {_put(put)}" for put in result]
        lines += [f"write {parameter} {_put(put)}" for parameter, puts in writes for put in puts]
    for function, numbers in answers.get("fails", {}).items():
        lines += [f"fails {function} {number}" for number in numbers]
    return "\n".join(lines) + "\n"


def _put(put: list[Any]) -> str:
    offset, size, value = put
    shown = f"& {value[0]} {value[1]}" if isinstance(value, list) else f"= {value}"
    return f"{offset} {size} {shown}"
