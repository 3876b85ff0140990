"""Instructions, functions, variables and debug information read from text."""

import pytest

from anabranch.ir import CallInfo, Function, Instruction, IRError, Module, read_module
from anabranch.ir import types as ty
from anabranch.ir.values import ConstInt, GlobalRef, InlineAsm, Local, MetadataOperand


def function(body: str, params: str = "ptr %p, i32 %a, i32 %b, i1 %c", extra: str = "") -> Function:
    return read_module(f"define void @f({params}) {{\n{body}\n}}\n{extra}").functions["f"]


def first(line: str, extra: str = "") -> Instruction:
    return function(f"entry:\n  {line}\n  unreachable", extra=extra).blocks[0].instructions[0]


@pytest.mark.parametrize(
    ("line", "opcode", "type", "flags", "extra"),
    [
        ("%r = add nuw nsw i32 %a, %b", "add", "i32", {"nuw", "nsw"}, None),
        ("%r = udiv exact i32 %a, 3", "udiv", "i32", {"exact"}, None),
        ("%r = or disjoint i32 %a, 3", "or", "i32", {"disjoint"}, None),
        ("%r = icmp samesign ult i32 %a, %b", "icmp", "i1", {"samesign"}, "ult"),
        ("%r = fcmp fast uno <2 x float> zeroinitializer, poison", "fcmp", "<2 x i1>", {"fast"}, "uno"),
        ("%r = zext nneg i32 %a to i64", "zext", "i64", {"nneg"}, None),
        ("%r = trunc nuw i32 %a to i3", "trunc", "i3", {"nuw"}, None),
        ("%r = load volatile i32, ptr %p, align 4", "load", "i32", {"volatile"}, None),
        (
            '%r = load atomic i32, ptr %p syncscope("x") acquire, align 4',
            "load",
            "i32",
            {"atomic", "acquire"},
            None,
        ),
        ("store atomic i32 %a, ptr %p seq_cst, align 4", "store", "void", {"atomic", "seq_cst"}, None),
        ("%r = fneg float 1.0", "fneg", "float", set(), None),
        ("%r = freeze i32 %a", "freeze", "i32", set(), None),
        ("%r = select i1 %c, i32 %a, i32 5", "select", "i32", set(), None),
        ("%r = extractvalue { i32, [2 x i8] } undef, 1, 0", "extractvalue", "i8", set(), (1, 0)),
        ("%r = insertvalue { i32, i8 } undef, i8 3, 1", "insertvalue", "{ i32, i8 }", set(), (1,)),
        ("%r = extractelement <2 x i8> undef, i32 %a", "extractelement", "i8", set(), None),
        ("%r = insertelement <2 x i8> undef, i8 1, i64 0", "insertelement", "<2 x i8>", set(), None),
        (
            "%r = atomicrmw volatile umax ptr %p, i32 %a monotonic, align 4",
            "atomicrmw",
            "i32",
            {"volatile", "monotonic"},
            "umax",
        ),
        (
            "%r = cmpxchg weak ptr %p, i32 %a, i32 %b acq_rel monotonic, align 4",
            "cmpxchg",
            "{ i32, i1 }",
            {"weak", "acq_rel", "monotonic"},
            None,
        ),
        ("%r = va_arg ptr %p, double", "va_arg", "double", set(), None),
        ("fence release", "fence", "void", {"release"}, None),
        ("%r = ptrtoint ptr %p to i64", "ptrtoint", "i64", set(), None),
        (
            "%r = addrspacecast ptr %p to ptr addrspace(256)",
            "addrspacecast",
            "ptr addrspace(256)",
            set(),
            None,
        ),
    ],
)
def test_instructions(line: str, opcode: str, type: str, flags: set[str], extra: object) -> None:
    found = first(line)
    assert found.opcode == opcode
    assert str(found.type) == type
    assert found.flags == flags
    assert found.extra == extra
    assert (found.result is None) == (type == "void")


def test_getelementptr() -> None:
    found = first("%r = getelementptr inbounds nuw [4 x { i8, i32 }], ptr %p, i64 0, i32 %a, i32 1, !tbaa !3")
    assert str(found.extra) == "[4 x { i8, i32 }]"
    assert len(found.operands) == 4
    assert found.type is ty.PTR
    vector = first("%r = getelementptr i8, ptr %p, <2 x i64> zeroinitializer")
    assert str(vector.type) == "<2 x ptr>"


def test_alloca_and_count() -> None:
    plain = first("%r = alloca [3 x i8], align 16")
    assert str(plain.extra) == "[3 x i8]"
    assert isinstance(plain.operands[0], ConstInt)
    assert plain.operands[0].value == 1
    counted = first("%r = alloca i8, i32 %a, align 1, !dbg !9")
    assert isinstance(counted.operands[0], Local)


def test_shufflevector_mask() -> None:
    found = first("%r = shufflevector <2 x i8> undef, <2 x i8> undef, <3 x i32> <i32 3, i32 poison, i32 0>")
    assert found.extra == (3, -1, 0)
    assert str(found.type) == "<3 x i8>"
    assert (
        first("%r = shufflevector <2 x i8> undef, <2 x i8> undef, <4 x i32> zeroinitializer").extra
        == (0,) * 4
    )


def test_switch_over_lines() -> None:
    body = """  switch i32 %a, label %other [
    i32 -1, label %one
    i32 7, label %other
  ], !dbg !4

one:                                              ; preds = %0
  br i1 %c, label %one, label %other, !llvm.loop !5

other:
  ret void"""
    blocks = function(body).blocks
    switch = blocks[0].instructions[0]
    assert switch.targets == (2, 1, 2)
    assert switch.extra == (0xFFFFFFFF, 7)
    assert blocks[1].instructions[0].targets == (1, 2)
    assert blocks[0].name == "0"


def test_phi_with_values_from_below() -> None:
    body = """entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  br label %loop"""
    blocks = function(body).blocks
    phi, add = blocks[1].instructions[:2]
    assert phi.targets == (0, 1)
    assert phi.operands[1] is add.result
    assert add.result is not None
    assert add.result.index == 5


def test_calls() -> None:
    declarations = 'declare i32 @g(ptr, ...) #1\nattributes #1 = { noreturn nounwind "x"="y" }\n'
    call = first(
        "%r = tail call noundef i32 (ptr, ...) @g(ptr noundef nonnull align 8 dereferenceable(16) %p, "
        'ptr byval({ i32, i8 }) align 4 %p, double 1.0) #1 [ "bundle"(i32 1) ], !srcloc !2',
        declarations,
    )
    assert call.opcode == "call"
    assert call.flags == {"tail"}
    info = call.extra
    assert isinstance(info, CallInfo)
    assert str(info.function_type) == "i32 (ptr, ...)"
    assert "noreturn" in info.attributes
    pointer, structure, last = info.arg_attrs
    assert pointer is not None
    assert "noundef" in pointer.names
    assert pointer.align == 8
    assert structure is not None
    assert str(structure.byval) == "{ i32, i8 }"
    assert last is None
    indirect = first("call fastcc void %p(i32 %a)")
    assert isinstance(indirect.operands[0], Local)
    assert str(indirect.extra.function_type) == "void (i32)"  # type: ignore[attr-defined]


def test_inline_assembly() -> None:
    call = first(
        r'%r = call i64 asm sideeffect "mov $1, $0\0A; nop, !x", "=r,r,~{memory}"(i64 3) #0, !srcloc !9',
        "attributes #0 = { nounwind }",
    )
    asm = call.operands[0]
    assert isinstance(asm, InlineAsm)
    assert asm.text == "mov $1, $0\n; nop, !x"
    assert asm.constraints == "=r,r,~{memory}"
    assert asm.flags == {"sideeffect"}


def test_callbr_and_invoke() -> None:
    body = """  callbr void asm sideeffect "", "r,!i"(i32 %a) #0
          to label %next [label %other], !dbg !3

next:
  %v = invoke i32 @g(i32 %a)
          to label %other unwind label %pad

other:
  ret void

pad:
  %l = landingpad { ptr, i32 }
          cleanup
          catch ptr null
  resume { ptr, i32 } %l"""
    extra = "declare i32 @g(i32)\nattributes #0 = { nounwind }"
    blocks = function(body, extra=extra).blocks
    assert blocks[0].instructions[0].targets == (1, 2)
    assert blocks[1].instructions[0].targets == (2, 3)
    assert blocks[3].instructions[0].extra == ("cleanup", "catch")


def test_debug_calls_and_records_are_left_out() -> None:
    body = """entry:
  call void @llvm.dbg.value(metadata i32 %a, metadata !12, metadata !DIExpression()), !dbg !14
    #dbg_value(i32 %a, !12, !DIExpression(), !14)
  %m = call i64 @llvm.read_register.i64(metadata !1)
  %n = call float @llvm.constrained(float 1.0, float 2.0, metadata !"round.dynamic", metadata !"x")
  ret void"""
    extra = """declare void @llvm.dbg.value(metadata, metadata, metadata)
declare i64 @llvm.read_register.i64(metadata)
declare float @llvm.constrained(float, float, metadata, metadata)"""
    found = function(body, extra=extra).blocks[0].instructions
    assert [i.opcode for i in found] == ["call", "call", "ret"]
    mode = found[1].operands[3]
    assert isinstance(mode, MetadataOperand)
    assert mode.text == '!"round.dynamic"'


@pytest.fixture(scope="module")
def module() -> Module:
    text = r"""
source_filename = "x.c"
target datalayout = "e-m:e"
target triple = "x86_64-unknown-linux-musl"
module asm ".globl foo"
$c = comdat any

@v = thread_local(localexec) global [2 x i32] [i32 1, i32 2], section ".d", comdat($c), align 16, !dbg !10
@e = external dso_local local_unnamed_addr constant i64, align 8
@w = extern_weak global i8
@"quoted name" = private unnamed_addr constant [1 x i8] zeroinitializer
@al = weak hidden alias i32, ptr @v
@al2 = alias i8, getelementptr (i8, ptr @v, i64 4)
@if = ifunc i32 (i32), ptr @resolve

define internal fastcc noundef zeroext i1 @f(PARAMS) unnamed_addr #0 section ".text.f" align 16 TAIL {
  %2 = load i32, ptr @v, align 4, !dbg !5
  ret i1 true, !dbg !7
}

declare !dbg !3 noundef ptr @resolve(i32, ptr readonly captures(none)) local_unnamed_addr #1

attributes #0 = { nounwind "frame-pointer"="all" memory(argmem: read) }
attributes #1 = { noreturn }

!llvm.dbg.cu = !{!1}
!0 = !{}
!1 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2)
!2 = !DIFile(filename: "x.c", directory: "/src/\22q\22")
!3 = distinct !DISubprogram(name: "source_f", scope: !2, file: !2, line: 11, unit: !1)
!4 = !DILocalVariable(name: "number", arg: 1, scope: !3, file: !2, line: 11)
!5 = !DILocation(line: 12, column: 3, scope: !6)
!6 = distinct !DILexicalBlock(scope: !3, file: !2, line: 12, column: 1)
!7 = !DILocation(line: 20, scope: !8, inlinedAt: !5)
!8 = distinct !DISubprogram(name: "inlined", scope: !9, file: !9, line: 19, unit: !1)
!9 = !DIFile(filename: "/abs/y.h", directory: "/src")
!10 = !DIGlobalVariableExpression(var: !11, expr: !DIExpression())
!11 = distinct !DIGlobalVariable(name: "vee", scope: !1, file: !2, line: 4, isDefinition: true)
"""
    params = "ptr noalias sret({ i64, i64, i64 }) align 8 %0, i32 noundef %x, ..."
    return read_module(text.replace("PARAMS", params).replace("TAIL", "personality ptr @resolve !dbg !3"))


def test_module_properties(module: Module) -> None:
    assert module.triple == "x86_64-unknown-linux-musl"
    assert module.data_layout == "e-m:e"
    assert module.source_filename == "x.c"
    assert module.assembly == [".globl foo"]


def test_variables(module: Module) -> None:
    v = module.globals["v"]
    assert v.thread_local
    assert v.align == 16
    assert v.section == ".d"
    assert v.loc == ('/src/"q"/x.c', 4)
    assert v.source_name == "vee"
    assert not v.constant
    e = module.globals["e"]
    assert e.declaration
    assert e.constant
    assert e.initializer is None
    assert e.source_name == "e"
    assert module.globals["w"].linkage == "extern_weak"
    assert "quoted name" in module.globals
    assert isinstance(module.aliases["al"], GlobalRef)
    assert module.aliases["al2"].type is ty.PTR
    assert isinstance(module.ifuncs["if"], GlobalRef)


def test_function_header(module: Module) -> None:
    f = module.functions["f"]
    assert f.linkage == "internal"
    assert f.vararg
    assert str(f.type) == "i1 (ptr, i32, ...)"
    assert [p.name for p in f.params] == ["0", "x"]
    assert f.param_attrs[0] is not None
    assert str(f.param_attrs[0].sret) == "{ i64, i64, i64 }"
    assert f.param_names == ("", "number")
    assert f.subprogram is not None
    assert (f.subprogram.name, f.subprogram.line) == ("source_f", 11)
    assert f.section == ".text.f"
    assert "nounwind" in f.attributes
    assert not f.noreturn
    assert f.return_attrs is not None
    assert "zeroext" in f.return_attrs.names
    assert module.functions["resolve"].noreturn
    assert module.functions["resolve"].is_declaration
    assert module.functions["resolve"].blocks == []


def test_places(module: Module) -> None:
    load, ret = module.functions["f"].blocks[0].instructions
    assert load.loc is not None
    assert (load.loc.file, load.loc.line, load.loc.column, load.loc.function) == (
        '/src/"q"/x.c',
        12,
        3,
        "source_f",
    )
    assert ret.loc is not None
    assert (ret.loc.file, ret.loc.function, ret.loc.column) == ("/abs/y.h", "inlined", 0)
    assert ret.loc.inlined_at is load.loc


def test_bodies_are_lazy() -> None:
    module = read_module("define void @f() {\n  nonsense\n}\n@g = global i32 nonsense\n")
    assert list(module.functions) == ["f"]
    with pytest.raises(IRError, match=r"^line 2: unknown instruction 'nonsense'"):
        _ = module.functions["f"].blocks
    with pytest.raises(IRError, match=r"^line 4: "):
        module.globals["g"].initializer  # noqa: B018


def test_places_in_rings_end() -> None:
    text = """define void @f() {
  ret void, !dbg !0
}
!0 = !DILocation(line: 1, scope: !2, inlinedAt: !1)
!1 = !DILocation(line: 2, scope: !2, inlinedAt: !0)
!2 = !DILexicalBlock(scope: !2, line: 1)
"""
    place = read_module(text).functions["f"].blocks[0].instructions[0].loc
    assert place is not None
    assert place.line == 1


@pytest.mark.parametrize(
    ("types", "expected"), [("!2, !2", ("a", "b")), ("!2, !2, null", ("a", "b")), ("!2", ("", ""))]
)
def test_parameter_names_need_matching_counts(types: str, expected: tuple[str, ...]) -> None:
    text = f"""define void @f(i64 %0, i64 %1) !dbg !0 {{
  ret void
}}
!0 = distinct !DISubprogram(name: "f", type: !1)
!1 = !DISubroutineType(types: !3)
!3 = !{{null, {types}}}
!4 = !DILocalVariable(name: "a", arg: 1, scope: !0)
"""
    if len(types) > 3:
        text += '!5 = !DILocalVariable(name: "b", arg: 2, scope: !0)\n'
    assert read_module(text).functions["f"].param_names == expected
