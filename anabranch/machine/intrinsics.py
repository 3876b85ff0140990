"""LLVM's intrinsic functions, as Python functions of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from anabranch import expr
from anabranch.expr import Expr, x87
from anabranch.expr.fpvalue import FORMATS
from anabranch.ir.module import Instruction
from anabranch.ir.types import FloatType, Type, VectorType
from anabranch.machine import blocks, constrained
from anabranch.machine.arithmetic import signed_overflow, unsigned_overflow
from anabranch.machine.choices import up_to
from anabranch.machine.ends import Fault, Loss, ProgramError
from anabranch.machine.operations import boolean, cast_function, float_width
from anabranch.machine.sparse import SPARSE_SIZE
from anabranch.machine.values import lanewise

if TYPE_CHECKING:
    from anabranch.machine.machine import Machine

Value = Any
Function = Callable[..., Value]
MASK64 = (1 << 64) - 1


def base_name(name: str) -> str:
    """The name without `llvm.` and without the suffixes that spell types."""
    parts = name.split(".")[1:]
    while len(parts) > 1 and (
        parts[-1][:1] in "ipvf"
        and any(c.isdigit() for c in parts[-1])
        and not parts[-1].startswith(("fsh", "floor"))
    ):
        parts.pop()
    return ".".join(parts)


def saturating(operation: str, a: Value, b: Value, width: int) -> Value:
    """`uadd.sat` and its relatives."""
    if operation[0] == "u":
        plain = operation[1:4]
        limit = (1 << width) - 1 if plain == "add" else 0
        overflow = unsigned_overflow(plain, a, b, width)
        return expr.ite(overflow, limit, getattr(expr, plain)(a, b, width), width)
    plain = operation[1:4]
    overflow = signed_overflow(plain, a, b, width)
    least, most = 1 << (width - 1), (1 << (width - 1)) - 1
    limit = expr.ite(expr.slt(a, 0, width), least, most, width)
    return expr.ite(overflow, limit, getattr(expr, plain)(a, b, width), width)


def saturating_shift(operation: str, a: Value, b: Value, width: int) -> Value:
    shifted = expr.shl(a, b, width)
    if operation == "ushl":
        back = expr.lshr(shifted, b, width)
        return expr.ite(expr.ne(back, a, width), (1 << width) - 1, shifted, width)
    back = expr.ashr(shifted, b, width)
    limit = expr.ite(expr.slt(a, 0, width), 1 << (width - 1), (1 << (width - 1)) - 1, width)
    return expr.ite(expr.ne(back, a, width), limit, shifted, width)


def funnel(left: bool, a: Value, b: Value, amount: Value, width: int) -> Value:
    """`fshl` and `fshr`: shift the double word, keep one half."""
    amount = expr.urem(amount, width, width)
    both = expr.concat(a, width, b, width)
    wide = expr.zext(amount, width, 2 * width)
    if left:
        return expr.extract(expr.shl(both, wide, 2 * width), width, width, 2 * width)
    return expr.extract(expr.lshr(both, wide, 2 * width), 0, width, 2 * width)


def with_overflow(kind: str, a: Value, b: Value, width: int) -> tuple[Value, Value]:
    plain = kind[1:4]
    overflow = (signed_overflow if kind[0] == "s" else unsigned_overflow)(plain, a, b, width)
    return getattr(expr, plain)(a, b, width), overflow


def minimum_of(kind: str, a: Value, b: Value, width: int) -> Value:
    compare = {"smin": expr.slt, "smax": expr.sgt, "umin": expr.ult, "umax": expr.ugt}[kind]
    return expr.ite(compare(a, b, width), a, b, width)


def absolute(a: Value, _poison: Value, width: int) -> Value:
    return expr.ite(expr.slt(a, 0, width), expr.sub(0, a, width), a, width)


def compare3(signed: bool, a: Value, b: Value, width: int, result: int) -> Value:
    less = (expr.slt if signed else expr.ult)(a, b, width)
    more = (expr.sgt if signed else expr.ugt)(a, b, width)
    return expr.ite(less, (1 << result) - 1, expr.ite(more, 1, 0, result), result)


def float_class(a: Value, test: Value, width: int) -> Value:
    """`llvm.is.fpclass`: is the number in one of the classes of the mask?

    Of the 80-bit images without a class, code generators take those that are no numbers for NaNs, and a
    pseudo-denormal for a finite number that is not normal, where the mask has all of those.
    """
    exponent_bits, mantissa = FORMATS[width].exponent_bits, FORMATS[width].fraction_bits
    fraction = expr.extract(a, 0, mantissa, width)
    exponent = expr.extract(a, width - 1 - exponent_bits, exponent_bits, width)
    negative = expr.eq(expr.extract(a, width - 1, 1, width), True, 1)
    zero_fraction = expr.eq(fraction, 0, mantissa)
    top, low = expr.eq(exponent, (1 << exponent_bits) - 1, exponent_bits), expr.eq(exponent, 0, exponent_bits)
    quiet = expr.eq(expr.extract(a, mantissa - 1, 1, width), True, 1)

    def both(*conditions: Value) -> Value:
        result: Value = True
        for condition in conditions:
            result = expr.and_(result, condition, 1)
        return result

    number = both(expr.not_(top), expr.not_(low))
    nan = both(top, expr.not_(zero_fraction))
    classes = [
        both(nan, expr.not_(quiet)),
        both(nan, quiet),
        both(top, zero_fraction, negative),
        both(number, negative),
        both(low, expr.not_(zero_fraction), negative),
        both(low, zero_fraction, negative),
        both(low, zero_fraction, expr.not_(negative)),
        both(low, expr.not_(zero_fraction), expr.not_(negative)),
        both(number, expr.not_(negative)),
        both(top, zero_fraction, expr.not_(negative)),
    ]
    result: Value = False
    for bit, member in enumerate(classes):
        if int(test) >> bit & 1:
            result = expr.or_(result, member, 1)
    if width != x87.WIDTH:
        return result
    integer = expr.eq(expr.extract(a, mantissa, 1, width), True, 1)
    result = expr.ite(expr.eq(integer, low, 1), both(low, int(test) & 0xF0 == 0xF0), result, 1)
    unsupported = both(expr.not_(integer), expr.not_(low))
    return expr.ite(unsupported, int(test) & 3 == 3, result, 1)


BINARY: dict[str, Callable[[Value, Value, int], Value]] = {
    **{f"{kind}.sat": partial(saturating, kind) for kind in ("uadd", "usub", "sadd", "ssub")},
    **{f"{kind}.sat": partial(saturating_shift, kind) for kind in ("ushl", "sshl")},
    **{kind: partial(minimum_of, kind) for kind in ("smin", "smax", "umin", "umax")},
    "abs": absolute,
    "ctlz": lambda a, _, w: expr.ctlz(a, w),
    "cttz": lambda a, _, w: expr.cttz(a, w),
}
UNARY: dict[str, Callable[[Value, int], Value]] = {
    "ctpop": expr.ctpop,
    "bswap": expr.bswap,
    "bitreverse": expr.bitreverse,
}
FLOAT: dict[str, str] = {
    "fabs": "fabs",
    "sqrt": "fsqrt",
    "fma": "ffma",
    "fmuladd": "fmuladd",
    "floor": "ffloor",
    "ceil": "fceil",
    "trunc": "ftrunc",
    "rint": "frint",
    "nearbyint": "frint",
    "round": "fround",
    "roundeven": "frint",
    "minnum": "fmin",
    "maxnum": "fmax",
    "copysign": "fcopysign",
}


class Intrinsics:
    """Finds the function for a call of an intrinsic."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.memory = machine.memory

    def find(self, name: str, instruction: Instruction) -> Function:
        base = base_name(name)
        model = self.machine.find_model(f"llvm.{base}")
        if model is not None:
            return model
        if base in ("memcpy", "memmove", "memcpy.inline"):
            return self.copy
        if base in ("memset", "memset.inline"):
            return lambda to, value, size, _volatile: self.fill(to, value, size)
        if base == "ubsantrap":
            return self.machine.sanitizer.trap
        if base in ("trap", "debugtrap"):
            return lambda *_: self.trap()
        if base in ("expect", "expect.with.probability", "launder.invariant.group", "threadlocal.address"):
            return lambda value, *_: value
        if base == "objectsize":
            return lambda pointer, least, *_: self.object_size(pointer, least, instruction.type.bits)
        if base == "va_copy":
            return lambda to, source: self.copy(to, source, 24)
        if base == "is.constant":
            return lambda value: False
        if base in ("returnaddress", "frameaddress", "addressofreturnaddress"):
            return lambda *_: 0
        if base == "ptrmask":
            return lambda pointer, mask: expr.and_(pointer, mask, 64)
        if base in ("readcyclecounter", "stacksave"):
            return lambda *_: 0
        return self._pure(name, base, instruction)

    def _pure(self, name: str, base: str, instruction: Instruction) -> Function:
        """Arithmetic, applied lane by lane to vectors."""
        type = instruction.type
        if base.endswith(".with.overflow"):
            width = instruction.operands[1].type.bits
            return lambda a, b: with_overflow(base, a, b, width)
        scalar = type.element if isinstance(type, VectorType) else type
        function = self._scalar(base, scalar, instruction)
        if function is None and base.startswith("vector.reduce.") and len(instruction.operands) == 2:
            return self._reduction(base.removeprefix("vector.reduce."), scalar)
        if function is None:
            raise Loss("unsupported", f"intrinsic {name}")
        if not isinstance(type, VectorType):
            return function
        lanes = type.count
        chosen = function

        def on_lanes(*arguments: Value) -> Value:
            spread = [a if isinstance(a, tuple) else (a,) * lanes for a in arguments]
            return lanewise(chosen, *spread)

        return on_lanes

    def _reduction(self, operation: str, scalar: Type) -> Function:
        width = scalar.bits
        names = {"and": "and_", "or": "or_"}
        if operation in ("smin", "smax", "umin", "umax"):
            step: Callable[[Value, Value], Value] = lambda a, b: minimum_of(operation, a, b, width)  # noqa: E731
        elif operation in ("add", "mul", "and", "or", "xor"):
            combine = getattr(expr, names.get(operation, operation))
            step = lambda a, b: combine(a, b, width)  # noqa: E731
        else:
            raise Loss("unsupported", f"intrinsic vector.reduce.{operation}")

        def reduce(lanes: tuple[Value, ...]) -> Value:
            total = lanes[0]
            for lane in lanes[1:]:
                total = step(total, lane)
            return boolean(total) if width == 1 else total

        return reduce

    def _scalar(self, base: str, type: Type, instruction: Instruction) -> Function | None:
        width = type.bits
        if base.startswith(constrained.PREFIX):
            base = base.removeprefix(constrained.PREFIX)
            operation = constrained.plain_operation(base, type, instruction)
            if operation is not None:
                return operation
        if base in BINARY:
            binary = BINARY[base]
            return lambda a, b: binary(a, b, width)
        if base in UNARY:
            unary = UNARY[base]
            return lambda a: unary(a, width)
        if base in ("fshl", "fshr"):
            return lambda a, b, c: funnel(base == "fshl", a, b, c, width)
        if base in ("scmp", "ucmp"):
            seen = instruction.operands[1].type
            source = seen.element.bits if isinstance(seen, VectorType) else seen.bits
            return lambda a, b: compare3(base == "scmp", a, b, source, width)
        if base == "is.fpclass":
            source = float_bits(instruction.operands[1].type)
            return lambda a, test: float_class(a, test, source)
        if base in ("fptosi.sat", "fptoui.sat"):
            return self._saturating_conversion(base, instruction, width)
        if base in FLOAT and isinstance(type, FloatType):
            return float_function(base, float_bits(type))
        return None

    def _saturating_conversion(self, base: str, instruction: Instruction, width: int) -> Function:
        source = instruction.operands[1].type
        bits = float_bits(source)
        signed = base == "fptosi.sat"
        least = -(1 << (width - 1)) if signed else 0
        most = (1 << (width - 1)) - 1 if signed else (1 << width) - 1
        convert = cast_function("fptosi" if signed else "fptoui", source, instruction.type)

        def saturate(a: Value) -> Value:
            low = expr.si_to_fp(least & ((1 << 128) - 1), 128, bits)
            high = expr.si_to_fp(most & ((1 << 128) - 1), 128, bits)
            mask = (1 << width) - 1
            result = expr.ite(expr.fcmp("ogt", a, high, bits), most & mask, convert(a), width)
            result = expr.ite(expr.fcmp("oge", a, high, bits), most & mask, result, width)
            result = expr.ite(expr.fcmp("olt", a, low, bits), least & mask, result, width)
            return expr.ite(expr.fcmp("uno", a, a, bits), 0, result, width)

        return saturate

    # ---- memory --------------------------------------------------------------------------------------

    def _length(self, size: Value, *blocks: tuple[Value, bool]) -> int:
        """The length of an operation on blocks `(address, is written)`.

        A symbolic one is an error beyond the end of the shortest block, and picked within it.
        """
        if size.__class__ is not Expr:
            return int(size)
        room = self._room(size, *blocks)
        return self.machine.choices.size(size, size.w, "length of a copy") if room else 0

    def _room(self, size: Expr, *blocks: tuple[Value, bool]) -> int:
        """How many bytes blocks of symbolic length can have at most; 0 if they are empty on this path."""
        if not expr.ne(size, 0, size.w):
            return 0
        ends = []
        for address, write in blocks:
            base = address
            if address.__class__ is Expr:
                base = self.machine.addresses.resolve(address, 1, write)[0].base
            info = self.memory.find(base >> 32)
            room = info.size - (base & 0xFFFFFFFF) if info is not None and not info.end else 0
            ends.append((max(0, room), base, write))
        for room, base, write in sorted(ends):
            fault = self.memory.fault_of(base, room + 1, write)
            if fault is not None:
                self.machine.check(expr.ugt(size, room, size.w), fault)
        return min(ends)[0]

    def copy(self, to: Value, source: Value, size: Value, _volatile: Value = False) -> None:
        if size.__class__ is int and self.memory.copied(to, source, size):
            return
        data: Sequence[Value]
        if size.__class__ is Expr and to.__class__ is int and source.__class__ is int:
            room = self._room(size, (to, True), (source, False))
            most = self.machine.choices.conditional(size, room, to, source)
            if most is not None:
                data = self.memory.contents(source, most)
                self.memory.write_bytes(to, up_to(size, data, self.memory.read_bytes(to, most)))
                return
        length = self._length(size, (to, True), (source, False))
        if not length:
            return
        if length > SPARSE_SIZE and to.__class__ is int and source.__class__ is int:
            blocks.copy(self.memory, to, source, length)
            return
        if source.__class__ is Expr:
            data = self.machine.addresses.read_bytes(source, length)
        else:
            known = self.memory.concrete_bytes(source, length)
            data = self.memory.read_bytes(source, length) if known is None else known
        self._write(to, data)

    def fill(self, to: Value, value: Value, size: Value) -> None:
        if size.__class__ is Expr and to.__class__ is int:
            most = self.machine.choices.conditional(size, self._room(size, (to, True)), to)
            if most is not None:
                self.memory.write_bytes(to, up_to(size, [value] * most, self.memory.read_bytes(to, most)))
                return
        length = self._length(size, (to, True))
        if not length:
            return
        if to.__class__ is Expr:
            self.machine.addresses.write_bytes(to, blocks.repeated(value, length))
        else:
            blocks.fill(self.memory, to, value, length)

    def _write(self, to: Value, data: Sequence[Value]) -> None:
        if to.__class__ is Expr:
            self.machine.addresses.write_bytes(to, data)
        else:
            self.memory.write_bytes(to, data)

    def object_size(self, pointer: Value, least: Value, width: int) -> Value:
        """The bytes from a pointer to the end of its object, where that is known."""
        unknown = 0 if least is True else (1 << width) - 1
        if pointer.__class__ is Expr:
            return unknown
        info = self.memory.find(pointer >> 32)
        if info is None or info.end or info.extent is not None:
            return unknown
        return max(0, info.size - (pointer & 0xFFFFFFFF))

    def trap(self) -> None:
        raise ProgramError(Fault("abort", "trap instruction"))


def float_bits(type: Type) -> int:
    return float_width(type.element if isinstance(type, VectorType) else type)


def float_function(base: str, width: int) -> Function:
    if base == "fmuladd":
        return lambda a, b, c: expr.fadd(expr.fmul(a, b, width), c, width)
    function = getattr(expr, FLOAT[base], None)
    if function is None:
        raise Loss("unsupported", f"intrinsic {base}")
    return lambda *arguments: function(*arguments, width)
