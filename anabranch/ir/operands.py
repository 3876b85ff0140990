"""The cursor over the tokens of one line: types, values, attributes."""

from __future__ import annotations

from anabranch.ir import types as ty
from anabranch.ir.debug import DebugInfo
from anabranch.ir.errors import IRError
from anabranch.ir.floats import float_bits
from anabranch.ir.lexer import name_of, string_bytes, words
from anabranch.ir.module import ArgAttrs
from anabranch.ir.types import PTR, FloatType, IntType, PointerType, StructType, Type, VectorType
from anabranch.ir.values import (
    BlockAddress,
    ConstAggregate,
    ConstBytes,
    ConstExpr,
    ConstFloat,
    ConstInt,
    GlobalRef,
    InlineAsm,
    Local,
    MetadataOperand,
    Null,
    Operand,
    Poison,
    Undef,
    Zero,
)

BINARY = words("add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem")
CASTS = words(
    "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast addrspacecast"
    " ptrtoaddr"
)
FLAGS = words(
    "nsw nuw exact disjoint nneg samesign inbounds nusw fast nnan ninf nsz arcp contract afn reassoc"
)
VALUE_WORDS = (
    words(
        "null true false undef poison zeroinitializer none asm splat getelementptr icmp fcmp select"
        " extractelement insertelement shufflevector extractvalue insertvalue fneg blockaddress"
        " dso_local_equivalent no_cfi ptrauth"
    )
    | BINARY
    | CASTS
)
SIMPLE_TYPES: dict[str, Type] = {
    "void": ty.VOID,
    "label": ty.LABEL,
    "metadata": ty.METADATA,
    "token": ty.TOKEN,
    "ptr": PTR,
    **{kind: ty.float_type(kind) for kind in FloatType.FORMATS},
    **{f"i{width}": ty.int_type(width) for width in (1, 8, 16, 32, 64, 128)},
}
MAX_INT_WIDTH = 1 << 23
TYPE_ATTRIBUTES = words("byval sret byref preallocated inalloca elementtype")
CLOSERS = {"[": "]", "{": "}", "<": ">", "(": ")"}


class Names:
    """What names mean in one module: types, global symbols, attribute groups."""

    __slots__ = ("attrs", "debug", "globals", "groups", "symbols", "types")

    def __init__(self, debug: DebugInfo) -> None:
        self.debug = debug
        self.types: dict[str, Type] = dict(SIMPLE_TYPES)
        self.globals: dict[str, GlobalRef] = {}
        self.symbols: set[str] = set()
        self.groups: dict[str, frozenset[str]] = {}
        self.attrs: dict[tuple[str, ...], ArgAttrs] = {}

    def reference(self, token: str) -> GlobalRef:
        name = name_of(token)
        if name not in self.symbols:
            raise ValueError(f"use of undefined symbol {token}")
        ref = self.globals[token] = GlobalRef(name)
        return ref


class Cursor:
    """Position in the tokens of one logical line. Running off the end raises IndexError."""

    __slots__ = ("blocks", "locals", "names", "pos", "tokens", "types")

    def __init__(self, names: Names) -> None:
        self.names = names
        self.types = names.types
        self.tokens: list[str] = []
        self.pos = 0
        self.locals: dict[str, Local] = {}
        self.blocks: dict[str, int] = {}

    def load(self, tokens: list[str], pos: int = 0) -> None:
        self.tokens = tokens
        self.pos = pos

    def peek(self) -> str:
        return self.tokens[self.pos] if self.pos < len(self.tokens) else ""

    def next(self) -> str:
        token = self.tokens[self.pos]
        self.pos += 1
        return token

    def expect(self, token: str) -> None:
        pos = self.pos
        if self.tokens[pos] != token:
            raise ValueError(f"expected '{token}', found '{self.tokens[pos]}'")
        self.pos = pos + 1

    def accept(self, token: str) -> bool:
        if self.pos < len(self.tokens) and self.tokens[self.pos] == token:
            self.pos += 1
            return True
        return False

    def skip_group(self) -> None:
        """Step over a bracketed group that starts here."""
        depth = 0
        while True:
            token = self.next()
            if token in "([{":
                depth += 1
            elif token in ")]}":
                depth -= 1
                if depth == 0:
                    return

    # Types

    def at_type(self) -> bool:
        token = self.peek()
        return token in self.types or token[:1] in ("%", "[", "{", "<") or _is_int_type(token)

    def type(self) -> Type:
        """A type without the suffix that makes it a function type."""
        token = self.tokens[self.pos]
        self.pos += 1
        found = self.types.get(token)
        if found is None:
            return self._other_type(token)
        if found is PTR and self.pos < len(self.tokens) and self.tokens[self.pos] == "addrspace":
            return ty.pointer_type(self._address_space())
        return found

    def full_type(self) -> Type:
        """A type, function types included."""
        result = self.type()
        while self.peek() == "(":
            result = self.function_type(result)
        return result

    def _address_space(self) -> int:
        self.expect("addrspace")
        self.expect("(")
        number = _small_int(self.next())
        self.expect(")")
        return number

    def _other_type(self, token: str) -> Type:
        if token == "[":
            count = _small_int(self.next())
            self.expect("x")
            element = self.type()
            self.expect("]")
            return ty.array_type(count, element)
        if token == "{":
            return ty.struct_type(self._fields())
        if token == "<":
            if self.accept("{"):
                fields = self._fields()
                self.expect(">")
                return ty.struct_type(fields, packed=True)
            if self.peek() == "vscale":
                raise ValueError("scalable vectors are not supported")
            count = _small_int(self.next())
            self.expect("x")
            element = self.type()
            self.expect(">")
            return ty.vector_type(count, element)
        if _is_int_type(token):
            width = _small_int(token[1:])
            if not 0 < width <= MAX_INT_WIDTH:
                raise ValueError(f"integer type {token} has no valid width")
            found = self.names.types[token] = ty.int_type(width)
            return found
        raise ValueError(f"expected a type, found '{token}'")

    def _fields(self) -> tuple[Type, ...]:
        fields: list[Type] = []
        if self.accept("}"):
            return ()
        while True:
            fields.append(self.type())
            if self.accept("}"):
                return tuple(fields)
            self.expect(",")

    def function_type(self, ret: Type) -> Type:
        self.expect("(")
        params: list[Type] = []
        vararg = False
        while not self.accept(")"):
            if params or vararg:
                self.expect(",")
            if self.accept("..."):
                vararg = True
            else:
                params.append(self.type())
                self.attributes()
        return ty.function_type(ret, tuple(params), vararg)

    # Attributes

    def attributes(self) -> ArgAttrs | None:
        """Attributes up to a value, a name or a separator."""
        tokens, start, end = self.tokens, self.pos, len(self.tokens)
        while self.pos < end:
            token = tokens[self.pos]
            first = token[0]
            if not (first.isalpha() or first == '"') or token in VALUE_WORDS or token[:2] in ('c"', "f0"):
                break
            self.pos += 1
            if token == "align" and self.pos < end and tokens[self.pos].isdigit():
                self.pos += 1
            elif self.pos < end and tokens[self.pos] == "(":
                self.skip_group()
            elif first == '"' and self.accept("="):
                self.next()
        if self.pos == start:
            return None
        key = tuple(tokens[start : self.pos])
        found = self.names.attrs.get(key)
        if found is None:
            found = self._make_attrs(start)
            if not any(token[0] == "%" for token in key):
                self.names.attrs[key] = found
        return found

    def _make_attrs(self, start: int) -> ArgAttrs:
        end, self.pos = self.pos, start
        names: set[str] = set()
        types: dict[str, Type] = {}
        align: int | None = None
        while self.pos < end:
            token = self.next()
            names.add(token)
            if token == "align":
                bracket = self.accept("(")
                align = _small_int(self.next())
                if bracket:
                    self.expect(")")
            elif token in TYPE_ATTRIBUTES and self.accept("("):
                types[token] = self.full_type()
                self.expect(")")
            elif self.peek() == "(" and self.pos < end:
                self.skip_group()
            elif token[0] == '"' and self.accept("="):
                self.next()
        return ArgAttrs(frozenset(names), types.get("byval"), types.get("sret"), align)

    # Values

    def value(self, type: Type) -> Operand:
        """A value of this type: a name or a constant."""
        token = self.tokens[self.pos]
        self.pos += 1
        local = self.locals.get(token)
        if local is not None:
            if local.type is not type:
                raise ValueError(f"{token} has type {local.type}, used as {type}")
            return local
        constant = type.constants.get(token)
        if constant is not None:
            return constant  # type: ignore[no-any-return]
        return self._other_value(token, type)

    def typed_value(self) -> Operand:
        """A type and a value of it; the common cases in one step."""
        tokens, pos = self.tokens, self.pos
        type = self.types.get(tokens[pos])
        if type is not None:
            token = tokens[pos + 1]
            local = self.locals.get(token)
            if local is not None and local.type is type:
                self.pos = pos + 2
                return local
            constant = type.constants.get(token)
            if constant is not None:
                self.pos = pos + 2
                return constant  # type: ignore[no-any-return]
        return self.value(self.type())

    def _other_value(self, token: str, type: Type) -> Operand:
        first = token[0]
        if first == "%":
            # Defined further down (phis, blocks out of order); the index comes with the definition.
            local = self.locals[token] = Local(name_of(token), type, -1)
            return local
        if first == "@":
            ref = self.names.globals.get(token) or self.names.reference(token)
            if type is not PTR:
                if not isinstance(type, PointerType):
                    raise ValueError(f"{token} used as {type}")
                return GlobalRef(ref.name, type)
            return ref
        constant = _simple_constant(token, type)
        if constant is not None:
            type.constants[token] = constant
            return constant
        return self._compound(token, type)

    def _compound(self, token: str, type: Type) -> Operand:
        if token in ("[", "{", "<"):
            return self._aggregate(token, type)
        if token[:2] == 'c"':
            data = string_bytes(token[2:-1])
            if not isinstance(type, ty.ArrayType) or type.count != len(data) or type.element is not ty.I8:
                raise ValueError(f"string of {len(data)} bytes given for {type}")
            return ConstBytes(type, data)
        if token == "splat" and isinstance(type, VectorType):
            self.expect("(")
            element = self.typed_value()
            self.expect(")")
            _check_type(element, type.element)
            return ConstAggregate(type, (element,) * type.count)
        if token == "asm":
            return self._inline_asm()
        if token == "blockaddress":
            return self._block_address()
        if token in ("dso_local_equivalent", "no_cfi"):
            return self.value(type)
        if type is ty.METADATA:
            self.pos -= 1
            return self.metadata()
        if token in VALUE_WORDS:
            constant = self._expression(token)
            _check_type(constant, type)
            return constant
        raise ValueError(f"'{token}' is not a value of type {type}")

    def _aggregate(self, opener: str, type: Type) -> Operand:
        packed = opener == "<" and isinstance(type, StructType)
        if packed:
            self.expect("{")
        closer = "}" if packed else CLOSERS[opener]
        elements: list[Operand] = []
        while not self.accept(closer):
            if elements:
                self.expect(",")
            elements.append(self.typed_value())
        if packed:
            self.expect(">")
        if isinstance(type, StructType):
            expected = type.fields or ()
        elif isinstance(type, (ty.ArrayType, VectorType)):
            expected = (type.element,) * type.count if len(elements) == type.count else ()
        else:
            raise ValueError(f"aggregate given for {type}")
        if len(expected) != len(elements):
            raise ValueError(f"{len(elements)} elements given for {type}")
        for element, wanted in zip(elements, expected, strict=True):
            _check_type(element, wanted)
        return ConstAggregate(type, tuple(elements))

    def _inline_asm(self) -> InlineAsm:
        flags = []
        while self.peek()[:1] != '"':
            flags.append(self.next())
        text = _quoted(self.next())
        self.expect(",")
        return InlineAsm(text, _quoted(self.next()), frozenset(flags))

    def _block_address(self) -> BlockAddress:
        self.expect("(")
        function = name_of(self.next())
        self.expect(",")
        block = name_of(self.next())
        self.expect(")")
        return BlockAddress(function, block)

    def metadata(self) -> MetadataOperand:
        """Everything up to the separator after a `metadata` operand."""
        start = self.pos
        while (token := self.tokens[self.pos]) not in (",", ")"):
            if token in ("{", "["):
                self.skip_group()
                continue
            self.pos += 1
            if token[0] == "!" and self.peek() == "(":
                self.skip_group()
        return MetadataOperand(" ".join(self.tokens[start : self.pos]))

    # Constant expressions

    def _expression(self, op: str) -> ConstExpr:
        extra: object = None
        while self.peek() in FLAGS or self.peek() == "inrange":
            self.next()
            if self.peek() == "(" and self.tokens[self.pos - 1] == "inrange":
                self.skip_group()
        if op in ("icmp", "fcmp"):
            extra = self.next()
        self.expect("(")
        if op == "getelementptr":
            extra = self.type()
            self.expect(",")
        operands = [self._expression_operand()]
        if op in CASTS:
            self.expect("to")
            result = self.type()
            self.expect(")")
            return ConstExpr(result, op, tuple(operands), None)
        while self.accept(","):
            operands.append(self._expression_operand())
        self.expect(")")
        return ConstExpr(_expression_type(op, operands), op, tuple(operands), extra)

    def _expression_operand(self) -> Operand:
        self.accept("inrange")
        return self.typed_value()


def _expression_type(op: str, operands: list[Operand]) -> Type:
    first = operands[0].type
    if op == "getelementptr":
        return gep_type(operands)
    if op in ("icmp", "fcmp"):
        return compare_type(first)
    if op == "select":
        return operands[1].type
    if op == "extractelement" and isinstance(first, VectorType):
        return first.element
    if op == "shufflevector" and isinstance(first, VectorType) and isinstance(operands[2].type, VectorType):
        return ty.vector_type(operands[2].type.count, first.element)
    if op in BINARY or op in ("insertelement", "fneg", "ptrauth"):
        return first
    raise ValueError(f"constant expression '{op}' is not supported")


def gep_type(operands: list[Operand]) -> Type:
    """`ptr`, or a vector of them as soon as one operand is a vector."""
    for operand in operands:
        if isinstance(operand.type, VectorType):
            return ty.vector_type(operand.type.count, PTR)
    return operands[0].type


def compare_type(operand: Type) -> Type:
    return ty.vector_type(operand.count, ty.I1) if isinstance(operand, VectorType) else ty.I1


def element_type(aggregate: Type, indices: tuple[int, ...]) -> Type:
    """Type of a member; ValueError where there is none."""
    for index in indices:
        if isinstance(aggregate, StructType) and aggregate.fields and index < len(aggregate.fields):
            aggregate = aggregate.fields[index]
        elif isinstance(aggregate, ty.ArrayType) and index < aggregate.count:
            aggregate = aggregate.element
        else:
            raise ValueError(f"{aggregate} has no element {index}")
    return aggregate


def _simple_constant(token: str, type: Type) -> Operand | None:
    """A constant of one token, or None."""
    if token == "undef":
        return Undef(type)
    if token == "poison":
        return Poison(type)
    if isinstance(type, IntType):
        return _int_constant(token, type)
    if isinstance(type, FloatType) and (token[-1].isalnum() or token[-1] == "."):
        return ConstFloat(type, float_bits(type, token)) if token not in VALUE_WORDS else None
    if token == "null" and isinstance(type, PointerType):
        return Null(type)
    if token in ("zeroinitializer", "none"):
        return Zero(type)
    return None


def _int_constant(token: str, type: IntType) -> Operand | None:
    if token in ("true", "false"):
        if type.width != 1:
            raise ValueError(f"'{token}' used as {type}")
        return ConstInt(type, int(token == "true"))
    if token == "zeroinitializer":
        return ConstInt(type, 0)
    first = token[0]
    if first.isdigit() or first == "-":
        value = int(token)
        if value.bit_length() > type.width:
            raise ValueError(f"{token} does not fit in {type}")
        return ConstInt(type, value & type.mask)
    if token[:3] in ("u0x", "s0x"):
        return ConstInt(type, int(token[3:], 16) & type.mask)
    return None


def _check_type(operand: Operand, wanted: Type) -> None:
    if operand.type is not wanted:
        raise ValueError(f"value of type {operand.type} where {wanted} is needed")


def _is_int_type(token: str) -> bool:
    return token[:1] == "i" and token[1:].isdigit() and token.isascii()


def _small_int(token: str) -> int:
    if not token.isdigit() or len(token) > 20:
        raise ValueError(f"expected a number, found '{token}'")
    return int(token)


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != '"':
        raise ValueError(f"expected a string, found '{token}'")
    return string_bytes(token[1:-1]).decode(errors="surrogateescape")


MALFORMED = (
    IndexError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
    OverflowError,
    MemoryError,
)
"""What reading malformed text can raise on the way to an IRError."""


def located(line: int, error: BaseException, text: str) -> IRError:
    """The IRError for anything that went wrong while reading `text` at `line`."""
    if isinstance(error, IRError):
        return error
    shown = " ".join(text.split())
    if len(shown) > 80:
        shown = shown[:77] + "..."
    reason = (
        str(error)
        if isinstance(error, ValueError) and str(error)
        else "the line ends too early or is malformed"
    )
    return IRError.at(line, f"{' '.join(reason.split())[:200]} in '{shown}'")
