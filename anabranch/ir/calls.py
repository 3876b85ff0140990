"""Calls: `call`, `invoke`, `callbr`."""

from __future__ import annotations

from anabranch.ir import types as ty
from anabranch.ir.constants import metadata
from anabranch.ir.module import NO_FLAGS, ArgAttrs, CallInfo, Instruction
from anabranch.ir.operands import Cursor
from anabranch.ir.types import METADATA, PTR, FunctionType, Type
from anabranch.ir.values import InlineAsm, Operand
from anabranch.ir.vocabulary import FLAGS

NOUNDEF = ArgAttrs(frozenset(("noundef",)))
_infos: dict[tuple[FunctionType, tuple[ArgAttrs | None, ...], frozenset[str]], CallInfo] = {}


def _call_info(
    type: FunctionType, attrs: tuple[ArgAttrs | None, ...], attributes: frozenset[str]
) -> CallInfo:
    key = (type, attrs, attributes)
    found = _infos.get(key)
    if found is None:
        found = _infos[key] = CallInfo(type, attrs, attributes)
    return found


def _head(c: Cursor) -> Type:
    """Step over conventions and attributes of the result, read the type before the callee."""
    types = c.names.types
    while (token := c.tokens[c.pos]) not in types and not c.at_type():
        c.pos += 1
        if token == "cc" or (token == "align" and c.peek().isdigit()):
            c.pos += 1
        elif c.peek() == "(":
            c.skip_group()
        elif not (token[0].isalpha() or token[0] == '"'):
            raise ValueError(f"unexpected '{token}' in a call")
    result = c.type()
    if c.tokens[c.pos] == "(":
        return c.function_type(result)
    return result


def _arguments(c: Cursor) -> tuple[list[Operand], list[ArgAttrs | None]]:
    c.expect("(")
    tokens = c.tokens
    args: list[Operand] = []
    attrs: list[ArgAttrs | None] = []
    if tokens[c.pos] == ")":
        c.pos += 1
        return args, attrs
    while True:
        type = c.type()
        found: ArgAttrs | None = None
        if type is METADATA:
            args.append(metadata(c))
        else:
            token = tokens[c.pos]
            if token == "noundef" and tokens[c.pos + 1][0] in "%@0123456789-":
                c.pos += 1
                found = NOUNDEF
            elif token[0] not in "%@":
                found = c.attributes()
            args.append(c.value(type))
        attrs.append(found)
        token = tokens[c.pos]
        c.pos += 1
        if token == ")":
            return args, attrs
        if token != ",":
            raise ValueError(f"expected ',' or ')', found '{token}'")


def _call_attributes(c: Cursor) -> frozenset[str]:
    """Attributes after the arguments: groups and single words; operand bundles are stepped over."""
    tokens, end = c.tokens, len(c.tokens)
    if c.pos >= end:
        return NO_FLAGS
    found: set[str] = set()
    while c.pos < end:
        token = tokens[c.pos]
        if token[0] == "#":
            found |= c.names.groups[token]
        elif token == "[":
            c.skip_group()
            continue
        elif token[0] == '"' or (token[0].isalpha() and token != "to"):
            if token[0] != '"':
                found.add(token)
            if c.pos + 1 < end and tokens[c.pos + 1] == "(":
                c.pos += 1
                c.skip_group()
                continue
            if c.pos + 2 < end and tokens[c.pos + 1] == "=":
                c.pos += 2
        else:
            break
        c.pos += 1
    return frozenset(found)


def _read(c: Cursor, op: str, flags: frozenset[str]) -> Instruction | None:
    head = _head(c)
    token = c.tokens[c.pos]
    if token.startswith("@llvm.dbg."):
        return None
    callee: Operand
    if token == "asm":
        callee = c.value(PTR)
    elif c.at_type() and token[0] != "%":
        callee = c.typed_value()
    else:
        callee = c.value(PTR)
    args, attrs = _arguments(c)
    if isinstance(head, FunctionType):
        type = head
        wanted = type.params
        if len(args) < len(wanted) or (len(args) > len(wanted) and not type.vararg):
            raise ValueError(f"{len(args)} arguments for {type}")
        if any(arg.type is not param for arg, param in zip(args, wanted, strict=False)):
            raise ValueError(f"argument types do not match {type}")
    else:
        type = ty.function_type(head, tuple([arg.type for arg in args]))
    info = _call_info(type, tuple(attrs), _call_attributes(c))
    if isinstance(callee, InlineAsm) and op == "call":
        flags |= {"asm"}
    return Instruction(op, type.ret, (callee, *args), (), flags, info)


def read_call(c: Cursor, op: str) -> Instruction | None:
    words = []
    if op != "call":
        words.append(op)
        c.expect("call")
    while c.tokens[c.pos] in FLAGS:
        words.append(c.next())
    return _read(c, "call", frozenset(words) if words else NO_FLAGS)


def _block(c: Cursor) -> int:
    c.expect("label")
    return c.blocks[c.next()]


def read_invoke(c: Cursor, op: str) -> Instruction | None:
    """targets = (normal, unwind)."""
    call = _read(c, op, NO_FLAGS)
    assert call is not None
    c.expect("to")
    normal = _block(c)
    c.expect("unwind")
    call.targets = (normal, _block(c))
    return call


def read_callbr(c: Cursor, op: str) -> Instruction | None:
    """targets = (fallthrough, indirect...)."""
    call = _read(c, op, NO_FLAGS)
    assert call is not None
    c.expect("to")
    targets = [_block(c)]
    c.expect("[")
    while not c.accept("]"):
        if len(targets) > 1:
            c.expect(",")
        targets.append(_block(c))
    call.targets = tuple(targets)
    return call
