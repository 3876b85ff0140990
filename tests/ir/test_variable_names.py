"""Names of source variables from debug records."""

from anabranch.ir import read_module

TEXT = """
define i32 @f(i32 %0, ptr %"odd name") !dbg !4 {
    #dbg_value(i32 %0, !5, !DIExpression(), !9)
  %slot = alloca i32
    #dbg_declare(ptr %slot, !6, !DIExpression(), !9)
    #dbg_value(i32 7, !7, !DIExpression(), !9)
  %next = add i32 %0, 1
    #dbg_value(i32 %next, !7, !DIExpression(), !9)
    #dbg_value(ptr %"odd name", !8, !DIExpression(), !9)
    #dbg_value(i32 poison, !5, !DIExpression(), !9)
  %plain = add i32 %next, 1
  ret i32 %plain
}

!4 = distinct !DISubprogram(name: "f", file: !1, line: 1)
!5 = !DILocalVariable(name: "count", arg: 1, scope: !4)
!6 = !DILocalVariable(name: "slot_of_it", scope: !4)
!7 = !DILocalVariable(name: "sum", scope: !4)
!8 = !DILocalVariable(name: "where", arg: 2, scope: !4)
!9 = !DILocation(line: 2, scope: !4)
"""


def test_names_of_locals() -> None:
    function = read_module(TEXT).functions["f"]
    by_name = {i.result.name: i.result.index for b in function.blocks for i in b.instructions if i.result}
    assert function.variable_names == {
        0: "count",
        1: "where",
        by_name["slot"]: "slot_of_it",
        by_name["next"]: "sum",
    }


def test_no_debug_information_no_names() -> None:
    module = read_module("declare void @d(i32)\ndefine void @f(i32 %x) {\n  ret void\n}\n")
    assert module.functions["f"].variable_names == module.functions["d"].variable_names == {}
