"""Malformed text always gives an IRError of one line."""

import random

import pytest

from anabranch.ir import IRError, read_module

BODY_ERRORS = {
    "%r = add i32 %a": 2,
    "%r = add i32 %a, %missing": 4,
    "%r = add i64 %a, 1": 2,
    "%r = add i32 %a, 1 garbage": 2,
    "%r add i32 %a, 1": 2,
    "%a = add i32 1, 1": 2,
    "store i32 %a": 2,
    "%v = store i32 %a, ptr null": 2,
    "br label %nowhere": 2,
    "br i1 true label %x": 2,
    "%r = icmp wrong i32 %a, 1": 2,
    "%r = getelementptr i8": 2,
    "%r = extractvalue { i32 } undef, 7": 2,
    "%r = load %unknown, ptr null": 2,
    "%r = load i99999999, ptr null": 2,
    "%r = call i32 @nobody()": 2,
    "%r = phi i32 [ 0, %nowhere ]": 2,
    "%r = call i32 (i32) @f(i32": 2,
    "%r = load i32, ptr null, !dbg !x": 2,
    "ret i32": 2,
    "%r = atomicrmw fly ptr null, i32 1 seq_cst": 2,
    "%r = load atomic i32, ptr null": 2,
    "switch i32 %a, label %e [": 2,
    'call void asm "", (': 2,
}


@pytest.mark.parametrize(("line", "number"), BODY_ERRORS.items())
def test_bad_instruction(line: str, number: int) -> None:
    module = read_module(f"define i32 @f(i32 %a) {{\n  {line}\n  unreachable\n}}\n")
    with pytest.raises(IRError) as caught:
        module.read_all()
    message = str(caught.value)
    assert message.startswith(f"line {number}: ")
    assert "\n" not in message
    assert len(message) < 320


@pytest.mark.parametrize(
    "text",
    [
        "define void @f() {\n  ret void\n",
        "define void @f()\n",
        "define void f() {\n}\n",
        "what is this\n",
        "%a = type { %a }\n",
        "%a = type { i32\n",
        "%a = type { %b }\n",
        "@g = \n",
        "@g = global\n",
        "declare void @f()\ndeclare void @f()\n",
        "@g = global i32 0\n@g = global i32 1\n",
        "@a = alias i32, ptr @missing\n",
        "declare void @f(i32 %x, i32 %x)\n",
    ],
)
def test_bad_top_level(text: str) -> None:
    with pytest.raises(IRError, match=r"^line \d+: [^\n]+$"):
        read_module(text)


@pytest.mark.parametrize(
    "body", ["", "entry:\n", "entry:\n  %x = add i32 1, 2\n", "a:\n  ret void\na:\n  ret void\n"]
)
def test_bad_blocks(body: str) -> None:
    module = read_module(f"define void @f() {{\n{body}}}\n")
    with pytest.raises(IRError, match=r"^line "):
        module.read_all()


SAMPLE = r"""
%struct.s = type { i32, [2 x ptr], <{ i8, i64 }> }
@g = dso_local global %struct.s { i32 1, [2 x ptr] [ptr @f, ptr null], <{ i8, i64 }> <{ i8 0, i64 -1 }> }
@s = private unnamed_addr constant [4 x i8] c"ab\0A\00", align 1, !dbg !0

define dso_local i32 @f(i32 noundef %0, ptr byval(%struct.s) align 8 %1, ...) #0 !dbg !3 {
  %3 = icmp sgt i32 %0, 2, !dbg !5
  br i1 %3, label %4, label %8, !dbg !5

4:                                                ; preds = %2
  %5 = getelementptr inbounds %struct.s, ptr %1, i64 0, i32 1, i64 1
  %6 = load volatile ptr, ptr %5, align 8, !tbaa !7
  %7 = call i32 (i32, ptr, ...) @f(i32 noundef %0, ptr byval(%struct.s) align 8 %6, double 0x3FF00) #1
  br label %8

8:                                                ; preds = %4, %2
  %9 = phi i32 [ 0, %2 ], [ %7, %4 ]
  switch i32 %9, label %10 [
    i32 0, label %4
    i32 3, label %10
  ]

10:                                               ; preds = %8, %8
  %11 = call i64 asm sideeffect "nop", "=r"() #1, !srcloc !9
  %12 = trunc i64 %11 to i32
  ret i32 %12, !dbg !5
}

attributes #0 = { nounwind "a"="b" }
attributes #1 = { nounwind }

!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression())
!1 = distinct !DIGlobalVariable(name: "s", file: !2, line: 4)
!2 = !DIFile(filename: "t.c", directory: "/tmp")
!3 = distinct !DISubprogram(name: "f", scope: !2, file: !2, line: 4)
!5 = !DILocation(line: 5, column: 46, scope: !3)
"""


def mutate(text: str, rng: random.Random) -> str:
    """A few edits: drop, double, swap or replace a piece."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text))
        length = rng.choice((1, 1, 2, 5, 20))
        piece = text[at : at + length]
        other = rng.randrange(len(text))
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:at] + text[at + length :]
        elif kind == 1:
            text = text[:at] + piece + text[at:]
        elif kind == 2:
            text = text[:at] + text[other : other + length] + text[at + length :]
        elif kind == 3:
            text = text[:at] + rng.choice('%@!#"(){}[]<>,=-0x\n \\;\0é') + text[at + 1 :]
        else:
            text = text[:at]
        if not text:
            return text
    return text


def use_everything(text: str) -> None:
    module = read_module(text)
    module.read_all()
    for function in module.functions.values():
        _ = function.param_names, function.subprogram
    for variable in module.globals.values():
        _ = variable.loc, variable.source_name, variable.value_type.size


def test_the_sample_itself_reads() -> None:
    use_everything(SAMPLE)


@pytest.mark.parametrize("seed", range(20))
def test_mutated_text_reads_or_gives_an_ir_error(seed: int) -> None:
    rng = random.Random(seed)
    refused = 0
    for _ in range(150):
        try:
            use_everything(mutate(SAMPLE, rng))
        except IRError as error:
            refused += 1
            assert str(error).startswith("line ")
            assert "\n" not in str(error)
    assert refused > 50
