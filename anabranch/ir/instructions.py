"""One function an opcode: tokens of a line -> Instruction (the body adds its result and place)."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.ir import types as ty
from anabranch.ir.calls import read_call, read_callbr, read_invoke
from anabranch.ir.constants import compare_type, element_type, gep_type
from anabranch.ir.flags import flag_set, take_flags
from anabranch.ir.lexer import words
from anabranch.ir.module import NO_FLAGS, Instruction
from anabranch.ir.operands import Cursor
from anabranch.ir.types import I1, PTR, VOID, VectorType
from anabranch.ir.values import ConstAggregate, ConstInt, Operand, Poison, Undef, Zero
from anabranch.ir.vocabulary import BINARY, CASTS

Handler = Callable[[Cursor, str], Instruction | None]

ORDERINGS = words("unordered monotonic acquire release acq_rel seq_cst")
ATOMIC_OPERATIONS = words(
    "xchg add sub and nand or xor max min umax umin fadd fsub fmax fmin fmaximum fminimum uinc_wrap udec_wrap"
    " usub_cond usub_sat"
)
_ACCESS = frozenset(("volatile", "atomic"))


def _ordering(c: Cursor) -> list[str]:
    """The ordering words after an atomic access, `syncscope` dropped."""
    if c.accept("syncscope"):
        c.skip_group()
    words = []
    while c.peek() in ORDERINGS:
        words.append(c.next())
    if not words:
        raise ValueError("an atomic access needs an ordering")
    return words


def read_load(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c, _ACCESS) if c.tokens[c.pos] in _ACCESS else NO_FLAGS
    type = c.type()
    c.expect(",")
    pointer = c.typed_value()
    if "atomic" in flags:
        flags |= flag_set(_ordering(c))
    return Instruction(op, type, (pointer,), (), flags)


def read_store(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c, _ACCESS) if c.tokens[c.pos] in _ACCESS else NO_FLAGS
    value = c.typed_value()
    c.expect(",")
    pointer = c.typed_value()
    if "atomic" in flags:
        flags |= flag_set(_ordering(c))
    return Instruction(op, VOID, (value, pointer), (), flags)


def read_binary(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c)
    left = c.typed_value()
    c.expect(",")
    type = left.type
    return Instruction(op, type, (left, c.value(type)), (), flags)


def read_compare(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c)
    predicate = c.next()
    if predicate not in _PREDICATES[op]:
        raise ValueError(f"'{predicate}' is not a predicate of {op}")
    left = c.typed_value()
    c.expect(",")
    type = left.type
    right = c.value(type)
    result = compare_type(type) if type.__class__ is VectorType else I1
    return Instruction(op, result, (left, right), (), flags, predicate)


_PREDICATES = {
    "icmp": words("eq ne ugt uge ult ule sgt sge slt sle"),
    "fcmp": words("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true"),
}


def _label(c: Cursor) -> int:
    """Index of the block in `label %name`."""
    c.expect("label")
    token = c.tokens[c.pos]
    c.pos += 1
    index = c.blocks.get(token)
    if index is None:
        raise ValueError(f"use of undefined block {token}")
    return index


def read_br(c: Cursor, op: str) -> Instruction:
    if c.tokens[c.pos] == "label":
        return Instruction(op, VOID, (), (_label(c),))
    c.expect("i1")
    condition = c.value(I1)
    c.expect(",")
    if_true = _label(c)
    c.expect(",")
    return Instruction(op, VOID, (condition,), (if_true, _label(c)))


def read_switch(c: Cursor, op: str) -> Instruction:
    value = c.typed_value()
    c.expect(",")
    targets = [_label(c)]
    cases: list[int] = []
    c.expect("[")
    while not c.accept("]"):
        case = c.value(_same(c.type(), value.type))
        if not isinstance(case, ConstInt):
            raise ValueError("a case of a switch must be an integer constant")
        cases.append(case.value)
        c.expect(",")
        targets.append(_label(c))
    return Instruction(op, VOID, (value,), tuple(targets), NO_FLAGS, tuple(cases))


def _same(type: ty.Type, wanted: ty.Type) -> ty.Type:
    if type is not wanted:
        raise ValueError(f"type {type} where {wanted} is needed")
    return type


def read_indirectbr(c: Cursor, op: str) -> Instruction:
    address = c.typed_value()
    c.expect(",")
    c.expect("[")
    targets: list[int] = []
    while not c.accept("]"):
        if targets:
            c.expect(",")
        targets.append(_label(c))
    return Instruction(op, VOID, (address,), tuple(targets))


def read_getelementptr(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c)
    tokens, end = c.tokens, len(c.tokens)
    if tokens[c.pos] == "inrange":
        c.pos += 1
        c.skip_group()
    source = c.type()
    operands: list[Operand] = []
    while c.pos < end and tokens[c.pos] == ",":
        c.pos += 1
        operands.append(c.typed_value())
    if not operands:
        raise ValueError("getelementptr needs a pointer")
    result = operands[0].type
    for operand in operands:
        if operand.type.__class__ is VectorType:
            result = gep_type(operands)
            break
    return Instruction(op, result, tuple(operands), (), flags, source)


_ONE = ConstInt(ty.I32, 1)


def read_alloca(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c, frozenset(("inalloca", "swifterror")))
    type = c.type()
    count: Operand = _ONE
    if c.peek() == "," and c.tokens[c.pos + 1] not in ("align", "addrspace"):
        c.pos += 1
        count = c.typed_value()
    return Instruction(op, PTR, (count,), (), flags, type)


def read_cast(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c)
    value = c.typed_value()
    c.expect("to")
    return Instruction(op, c.type(), (value,), (), flags)


def read_phi(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c)
    type = c.type()
    values: list[Operand] = []
    targets: list[int] = []
    tokens, blocks = c.tokens, c.blocks
    while True:
        c.expect("[")
        values.append(c.value(type))
        c.expect(",")
        targets.append(blocks[tokens[c.pos]])
        c.pos += 1
        c.expect("]")
        if not (c.pos < len(tokens) and tokens[c.pos] == "," and tokens[c.pos + 1] == "["):
            break
        c.pos += 1
    return Instruction(op, type, tuple(values), tuple(targets), flags)


def read_select(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c)
    condition = c.typed_value()
    c.expect(",")
    if_true = c.typed_value()
    c.expect(",")
    type = if_true.type
    return Instruction(op, type, (condition, if_true, c.value(_same(c.type(), type))), (), flags)


def read_unary(c: Cursor, op: str) -> Instruction:
    flags = take_flags(c)
    value = c.typed_value()
    return Instruction(op, value.type, (value,), (), flags)


def read_ret(c: Cursor, op: str) -> Instruction:
    type = c.type()
    return Instruction(op, VOID, () if type is VOID else (c.value(type),))


def read_bare(c: Cursor, op: str) -> Instruction:
    return Instruction(op, VOID, ())


def read_fence(c: Cursor, op: str) -> Instruction:
    return Instruction(op, VOID, (), (), flag_set(_ordering(c)))


def _indices(c: Cursor) -> tuple[int, ...]:
    indices: list[int] = []
    while c.peek() == "," and c.tokens[c.pos + 1].isdigit():
        c.pos += 1
        indices.append(int(c.next()))
    if not indices:
        raise ValueError("expected an index")
    return tuple(indices)


def read_extractvalue(c: Cursor, op: str) -> Instruction:
    value = c.typed_value()
    indices = _indices(c)
    return Instruction(op, element_type(value.type, indices), (value,), (), NO_FLAGS, indices)


def read_insertvalue(c: Cursor, op: str) -> Instruction:
    aggregate = c.typed_value()
    c.expect(",")
    element = c.typed_value()
    indices = _indices(c)
    _same(element.type, element_type(aggregate.type, indices))
    return Instruction(op, aggregate.type, (aggregate, element), (), NO_FLAGS, indices)


def _vector(type: ty.Type) -> VectorType:
    if not isinstance(type, VectorType):
        raise ValueError(f"{type} is not a vector")
    return type


def read_extractelement(c: Cursor, op: str) -> Instruction:
    vector = c.typed_value()
    c.expect(",")
    return Instruction(op, _vector(vector.type).element, (vector, c.typed_value()))


def read_insertelement(c: Cursor, op: str) -> Instruction:
    vector = c.typed_value()
    c.expect(",")
    element = c.value(_same(c.type(), _vector(vector.type).element))
    c.expect(",")
    return Instruction(op, vector.type, (vector, element, c.typed_value()))


def read_shufflevector(c: Cursor, op: str) -> Instruction:
    left = c.typed_value()
    c.expect(",")
    right = c.value(_same(c.type(), left.type))
    c.expect(",")
    mask = _shuffle_mask(c.typed_value())
    result = ty.vector_type(len(mask), _vector(left.type).element)
    return Instruction(op, result, (left, right), (), NO_FLAGS, mask)


def _shuffle_mask(operand: Operand) -> tuple[int, ...]:
    """Lanes picked; -1 where any value will do."""
    count = _vector(operand.type).count
    if isinstance(operand, Zero):
        return (0,) * count
    if isinstance(operand, (Undef, Poison)):
        return (-1,) * count
    if not isinstance(operand, ConstAggregate):
        raise ValueError("the mask of a shufflevector must be constant")
    return tuple(lane.value if isinstance(lane, ConstInt) else -1 for lane in operand.elements)


def read_atomicrmw(c: Cursor, op: str) -> Instruction:
    words = [c.next()] if c.peek() == "volatile" else []
    operation = c.next()
    if operation not in ATOMIC_OPERATIONS:
        raise ValueError(f"unknown atomic operation '{operation}'")
    pointer = c.typed_value()
    c.expect(",")
    value = c.typed_value()
    flags = flag_set([*words, *_ordering(c)])
    return Instruction(op, value.type, (pointer, value), (), flags, operation)


def read_cmpxchg(c: Cursor, op: str) -> Instruction:
    words = []
    while c.peek() in ("weak", "volatile"):
        words.append(c.next())
    pointer = c.typed_value()
    c.expect(",")
    expected = c.typed_value()
    c.expect(",")
    new = c.value(_same(c.type(), expected.type))
    result = ty.struct_type((expected.type, I1))
    return Instruction(op, result, (pointer, expected, new), (), flag_set([*words, *_ordering(c)]))


def read_va_arg(c: Cursor, op: str) -> Instruction:
    pointer = c.typed_value()
    c.expect(",")
    return Instruction(op, c.type(), (pointer,))


def read_landingpad(c: Cursor, op: str) -> Instruction:
    type = c.type()
    clauses: list[str] = []
    operands: list[Operand] = []
    while (word := c.peek()) in ("cleanup", "catch", "filter"):
        clauses.append(c.next())
        if word != "cleanup":
            operands.append(c.typed_value())
    return Instruction(op, type, tuple(operands), (), NO_FLAGS, tuple(clauses))


def read_resume(c: Cursor, op: str) -> Instruction:
    return Instruction(op, VOID, (c.typed_value(),))


def read_funclet(c: Cursor, op: str) -> Instruction:
    """Windows exception handling: only the edges are read; nothing we run executes it."""
    targets = []
    while c.pos < len(c.tokens):
        if c.next() == "label":
            targets.append(c.blocks[c.next()])
    pads = ("catchswitch", "catchpad", "cleanuppad")
    return Instruction(op, ty.TOKEN if op in pads else VOID, (), tuple(targets))


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(BINARY, read_binary),
    **dict.fromkeys(CASTS, read_cast),
    **dict.fromkeys(("icmp", "fcmp"), read_compare),
    **dict.fromkeys(("fneg", "freeze"), read_unary),
    **dict.fromkeys(("catchswitch", "catchpad", "cleanuppad", "catchret", "cleanupret"), read_funclet),
    "load": read_load,
    "store": read_store,
    "br": read_br,
    "switch": read_switch,
    "indirectbr": read_indirectbr,
    "getelementptr": read_getelementptr,
    "alloca": read_alloca,
    "phi": read_phi,
    "select": read_select,
    "ret": read_ret,
    "unreachable": read_bare,
    "fence": read_fence,
    "extractvalue": read_extractvalue,
    "insertvalue": read_insertvalue,
    "extractelement": read_extractelement,
    "insertelement": read_insertelement,
    "shufflevector": read_shufflevector,
    "atomicrmw": read_atomicrmw,
    "cmpxchg": read_cmpxchg,
    "va_arg": read_va_arg,
    "landingpad": read_landingpad,
    "resume": read_resume,
    "call": read_call,
    "tail": read_call,
    "musttail": read_call,
    "notail": read_call,
    "invoke": read_invoke,
    "callbr": read_callbr,
}
