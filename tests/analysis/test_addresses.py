"""Bases and offsets of addresses, variables that escape."""

from __future__ import annotations

import pytest

from anabranch.analysis.addresses import Addresses, Pointee
from anabranch.analysis.callgraph import build_call_graph
from anabranch.analysis.cfg import build_cfg
from anabranch.analysis.escapes import Escapes
from anabranch.ir import Function, Module, read_module
from anabranch.ir.values import Local

TEXT = """
%pair = type { i32, [4 x i16] }
@kept = global i32 0
@listed = global i32 0
@list = global ptr @listed
@fixed = constant i32 1
@other = alias i32, ptr @kept
declare void @outside(ptr)
define void @keep(ptr %p, ptr %q) {
  store ptr %p, ptr @list
  ret void
}
define void @pass(ptr %p) {
  %x = getelementptr i8, ptr %p, i64 4
  call void @keep(ptr %x, ptr null)
  ret void
}
define void @f() {
  %a = alloca i64
  %b = alloca i64
  call void @pass(ptr %a)
  call void @keep(ptr @kept, ptr %b)
  call void @outside(ptr %b)
  ret void
}
define void @g(ptr %p, i64 %i, i1 %c) {
  %s = alloca %pair
  %field = getelementptr %pair, ptr %s, i64 0, i32 1, i64 3
  %back = getelementptr i16, ptr %field, i64 -1
  %any = getelementptr i16, ptr %back, i64 %i
  %loaded = load ptr, ptr %p
  %far = getelementptr i8, ptr %loaded, i64 2
  %which = select i1 %c, ptr %back, ptr getelementptr (i8, ptr @other, i64 1)
  %const = getelementptr i8, ptr @fixed, i64 1
  ret void
}
"""


def index(function: Function, name: str) -> int:
    locals_ = [*function.params, *(i.result for b in function.blocks for i in b.instructions if i.result)]
    return next(local.index for local in locals_ if local.name == name)


def addresses(module: Module, name: str) -> Addresses:
    function = module.functions[name]
    return Addresses(module, function, build_cfg(function).order)


@pytest.mark.parametrize(
    ("name", "pointees", "heap"),
    [
        ("p", [("argument", "p", 0)], False),
        ("field", [("alloca", "s", 10)], False),
        ("back", [("alloca", "s", 8)], False),
        ("any", [("alloca", "s", None)], False),
        ("loaded", [("pointer", "loaded", 0)], True),
        ("far", [("pointer", "loaded", 2)], True),
        ("which", [("pointer", "which", 0), ("alloca", "s", 8), ("global", "kept", 1)], False),
        ("const", [], False),
    ],
)
def test_targets(name: str, pointees: list[tuple[str, str, int | None]], heap: bool) -> None:
    module = read_module(TEXT)
    function = module.functions["g"]
    pointers = {i.result.name: i.result for b in function.blocks for i in b.instructions if i.result}
    local: Local = pointers.get(name) or function.params[0]
    target = addresses(module, "g").target(local)
    expected: list[Pointee] = [
        ((kind, base if kind == "global" else index(function, base)), offset)  # type: ignore[misc]
        for kind, base, offset in pointees
    ]
    assert (list(target.pointees), target.heap) == (expected, heap)


def test_escapes() -> None:
    module = read_module(TEXT)
    escapes = Escapes(build_call_graph(module), lambda name: addresses(module, name))
    f = module.functions["f"]
    assert ("f", ("alloca", index(f, "a"))) in escapes
    assert ("f", ("alloca", index(f, "b"))) not in escapes
    assert ("", ("global", "kept")) in escapes
    assert ("", ("global", "listed")) in escapes
    assert ("", ("global", "list")) not in escapes
