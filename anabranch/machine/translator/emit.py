"""One instruction as lines of Python. Calls and terminators are written elsewhere.

Fast paths are guard-free: an operation on an `Expr` builds an expression through its operators; what an
operator cannot do raises, and the `except SLOW` line beside it calls the function that handles everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anabranch.ir.indexing import index_terms
from anabranch.ir.module import Instruction
from anabranch.ir.types import FloatType, IntType, PointerType, Type, VectorType
from anabranch.ir.values import ConstInt, Local, Operand
from anabranch.machine.pages import PAGE_BITS, PAGE_MASK
from anabranch.machine.translator.namespace import Namespace
from anabranch.machine.translator.plan import Plan, static_size
from anabranch.semantics.addresses import MASK64
from anabranch.semantics.casts import CASTS, FLOAT_CASTS
from anabranch.semantics.conditions import checked_name
from anabranch.semantics.elements import float_width, is_scalar, lane_type
from anabranch.semantics.faults import Unsupported
from anabranch.semantics.floats import FLOATING
from anabranch.semantics.integers import INTEGER, SHIFTS, SIGNED

RELATION = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
Lines = list[str]


def accessed(instruction: Instruction) -> Local | None:
    """The address of a load or store, if it is a value of the function."""
    if instruction.opcode not in ("load", "store"):
        return None
    pointer = instruction.operands[-1]
    return pointer if isinstance(pointer, Local) else None


class Emitter:
    """Writes instructions of one function."""

    def __init__(self, plan: Plan, namespace: Namespace, check_overflow: bool) -> None:
        self.plan = plan
        self.namespace = namespace
        self.check_overflow = check_overflow
        self._split: dict[str, bool] = {}  # addresses used again in the current block: split already?

    # ---- operands ------------------------------------------------------------------------------------

    def operand(self, operand: Operand) -> str:
        """A Python expression for an operand."""
        if isinstance(operand, Local):
            return f"v{self.plan.index_of(operand)}"
        return self.literal(self.namespace.layout.value(operand))

    def literal(self, value: Any) -> str:
        if value.__class__ is int or value.__class__ is bool:
            return str(value)
        return self.namespace.constant(value)

    # ---- dispatch ------------------------------------------------------------------------------------

    def instruction(self, block: int, instruction: Instruction) -> Lines:
        """The lines of an instruction that is neither a phi, a call nor a terminator."""
        opcode = instruction.opcode
        result = instruction.result
        target = f"v{result.index}" if result is not None else "_"
        method: Callable[[Instruction, str], Lines] | None = getattr(self, f"_{opcode}", None)
        if opcode in INTEGER:
            return self._int_binary(instruction, target)
        if opcode in FLOATING:
            return self._float_binary(instruction, target)
        if opcode in CASTS:
            return self._cast(instruction, target)
        if opcode == "alloca":
            return self._alloca(instruction, target, self.plan.is_static_alloca(block, instruction))
        if method is None:
            raise Unsupported(f"instruction {opcode}")
        return method(instruction, target)

    # ---- integers ------------------------------------------------------------------------------------

    def _int_binary(self, instruction: Instruction, target: str) -> Lines:
        a, b = map(self.operand, instruction.operands)
        type, opcode = instruction.type, instruction.opcode
        checked = checked_name(instruction, self.check_overflow)
        if isinstance(type, VectorType):
            operation = self.namespace.scalar_operation(checked or opcode, type.element.bits)
            return [f"{target} = lanewise({operation}, {a}, {b})"]
        width = type.bits
        if width > 4096:
            raise Unsupported(f"integer of {width} bits")
        constant = instruction.operands[1]
        if checked is not None and checked != opcode:
            return [f"{target} = {checked}({a}, {b}, {width})"]
        if opcode in ("and", "or", "xor"):
            return [f"{target} = {a} { {'and': '&', 'or': '|', 'xor': '^'}[opcode] } {b}"]
        if width == 1:
            return [f"{target} = {self.namespace.scalar_operation(opcode, 1)}({a}, {b})"]
        mask = (1 << width) - 1
        if opcode in ("add", "sub", "mul"):
            sign = {"add": "+", "sub": "-", "mul": "*"}[opcode]
            if opcode == "add" and isinstance(constant, ConstInt) and constant.value >> (width - 1):
                sign, b = "-", str((1 << width) - constant.value)
            return [f"{target} = ({a} {sign} {b}) & {mask}"]
        if opcode in ("udiv", "urem"):
            sign = "//" if opcode == "udiv" else "%"
            return [f"try: {target} = {a} {sign} {b}", f"except SLOW: {target} = {opcode}({a}, {b}, {width})"]
        if checked is None and opcode in SHIFTS:
            return [f"{target} = expr_{opcode}({a}, {b}, {width})"]
        if opcode in ("sdiv", "srem") or not isinstance(constant, ConstInt) or constant.value >= width:
            return [f"{target} = {opcode}({a}, {b}, {width})"]
        if opcode == "shl":
            return [f"{target} = ({a} << {b}) & {mask}"]
        if opcode == "lshr":
            return [f"{target} = {a} >> {b}"]
        if not a.startswith("v"):
            return [f"{target} = expr_ashr({a}, {b}, {width})"]
        half = 1 << (width - 1)
        return [
            f"{target} = (({a} ^ {half}) - {half} >> {b}) & {mask}"
            f" if {a}.__class__ is int else expr_ashr({a}, {b}, {width})"
        ]

    def compare(self, instruction: Instruction) -> tuple[str, bool]:
        """A Python expression for an icmp, and whether its sense is inverted."""
        left, right = instruction.operands
        # Only the operand of a widening that is not kept is sure to be there.
        kept = not isinstance(left, Local) or self.plan.index_of(left) not in self.plan.virtual
        narrowed = None if kept else self.plan.narrowed(instruction)
        if narrowed is not None:
            predicate, local, constant = narrowed
            width = local.type.bits
            if width == 1:
                return self.operand(local), (predicate == "eq") == (constant == 0)
            return self._relation(predicate, self.operand(local), str(constant), width), False
        predicate = str(instruction.extra)
        type = left.type
        a, b = self.operand(left), self.operand(right)
        if isinstance(type, VectorType):
            compare = self.namespace.scalar_operation(f"icmp_{predicate}", type.element.bits)
            return f"lanewise({compare}, {a}, {b})", False
        if type.bits == 1:
            return f"{self.namespace.scalar_operation(f'icmp_{predicate}', 1)}({a}, {b})", False
        return self._relation(predicate, a, b, type.bits), False

    def _relation(self, predicate: str, a: str, b: str, width: int) -> str:
        if predicate in SIGNED:
            half = 1 << (width - 1)
            a, b = (str(int(x) ^ half) if x.isdigit() else f"({x} ^ {half})" for x in (a, b))
        return f"{a} {RELATION[predicate[-2:]]} {b}"

    def _icmp(self, instruction: Instruction, target: str) -> Lines:
        text, inverted = self.compare(instruction)
        if inverted:
            return [f"{target} = not {text} if {text}.__class__ is bool else not_({text})"]
        return [f"{target} = {text}"]

    def _select(self, instruction: Instruction, target: str) -> Lines:
        condition, a, b = map(self.operand, instruction.operands)
        if not is_scalar(instruction.type):
            kind = self.namespace.constant(instruction.type)
            return [f"{target} = select_value({condition}, {a}, {b}, {kind})"]
        width = instruction.type.bits
        return [
            f"{target} = ({a} if {condition} else {b})"
            f" if {condition}.__class__ is bool else ite(known({condition}), {a}, {b}, {width})"
        ]

    def _freeze(self, instruction: Instruction, target: str) -> Lines:
        return [f"{target} = {self.operand(instruction.operands[0])}"]

    # ---- casts ---------------------------------------------------------------------------------------

    def _cast(self, instruction: Instruction, target: str) -> Lines:
        source, wanted = instruction.operands[0].type, instruction.type
        value = self.operand(instruction.operands[0])
        opcode = instruction.opcode
        if isinstance(source, VectorType) or isinstance(wanted, VectorType):
            return self._vector_cast(instruction, target, value)
        w0, w1 = source.bits, wanted.bits
        if opcode in FLOAT_CASTS:
            return [f"{target} = {self.namespace.scalar_cast(opcode, source, wanted)}({value})"]
        if opcode in ("ptrtoint", "inttoptr"):
            opcode = "trunc" if w1 < w0 else "zext"
        if w0 == w1 or opcode in ("bitcast", "addrspacecast", "ptrtoaddr"):
            return [f"{target} = {value}"]
        if not value.startswith("v"):
            return [f"{target} = {self.namespace.scalar_cast(opcode, source, wanted)}({value})"]
        if w0 == 1:
            known = f"+{value}" if opcode == "zext" else f"-{value} & {(1 << w1) - 1}"
            return [f"{target} = {known} if {value}.__class__ is bool else {opcode}(known({value}), 1, {w1})"]
        if w1 == 1:
            return [f"{target} = {value} & 1 == 1 if {value}.__class__ is int else narrow({value}, {w0}, 1)"]
        if opcode == "trunc":
            mask = (1 << w1) - 1
            symbolic = f"extract({value}, 0, {w1}, {w0})"
            return [f"{target} = {value} & {mask} if {value}.__class__ is int else {symbolic}"]
        if opcode == "zext":
            if w0 == 8:
                return [f"{target} = {self.namespace.widening('zext', w1)}[{value}]"]
            return [f"{target} = {value} if {value}.__class__ is int else zext({value}, {w0}, {w1})"]
        result = instruction.result
        assert result is not None
        if result.index in self.plan.signed_offsets:
            known = f"({value} ^ {1 << (w0 - 1)}) - {1 << (w0 - 1)}"
        elif w0 == 8:
            return [f"{target} = {self.namespace.widening('sext', w1)}[{value}]"]
        else:
            high = ((1 << w1) - 1) ^ ((1 << w0) - 1)
            known = f"({value} if {value} < {1 << (w0 - 1)} else {value} | {high})"
        return [f"{target} = {known} if {value}.__class__ is int else sext({value}, {w0}, {w1})"]

    def _vector_cast(self, instruction: Instruction, target: str, value: str) -> Lines:
        source, wanted = instruction.operands[0].type, instruction.type
        if instruction.opcode == "bitcast":
            a, b = self.namespace.constant(source), self.namespace.constant(wanted)
            return [f"{target} = reinterpret({value}, {a}, {b})"]
        assert isinstance(source, VectorType) and isinstance(wanted, VectorType)
        cast = self.namespace.scalar_cast(instruction.opcode, source.element, wanted.element)
        return [f"{target} = lanewise({cast}, {value})"]

    # ---- floating point ------------------------------------------------------------------------------

    def _float_binary(self, instruction: Instruction, target: str) -> Lines:
        a, b = map(self.operand, instruction.operands)
        type = instruction.type
        width = float_width(lane_type(type))
        if isinstance(type, VectorType):
            operation = self.namespace.scalar_operation(instruction.opcode, width)
            return [f"{target} = lanewise({operation}, {a}, {b})"]
        return [f"{target} = {instruction.opcode}({a}, {b}, {width})"]

    def _fneg(self, instruction: Instruction, target: str) -> Lines:
        type = instruction.type
        value = self.operand(instruction.operands[0])
        if isinstance(type, VectorType):
            sign = 1 << (float_width(type.element) - 1)
            return [f"{target} = tuple(x ^ {sign} for x in {value})"]
        return [f"{target} = {value} ^ {1 << (float_width(type) - 1)}"]

    def _fcmp(self, instruction: Instruction, target: str) -> Lines:
        a, b = map(self.operand, instruction.operands)
        type = instruction.operands[0].type
        if isinstance(type, VectorType):
            width = float_width(type.element)
            compare = self.namespace.scalar_operation(f"fcmp_{instruction.extra}", width)
            return [f"{target} = lanewise({compare}, {a}, {b})"]
        return [f"{target} = fcmp({str(instruction.extra)!r}, {a}, {b}, {float_width(type)})"]

    # ---- addresses and memory ------------------------------------------------------------------------

    def _getelementptr(self, instruction: Instruction, target: str) -> Lines:
        if isinstance(instruction.type, VectorType):
            raise Unsupported("getelementptr of vectors")
        base, *indices = instruction.operands
        assert isinstance(instruction.extra, Type)
        text, mask = self.operand(base), "inbounds" not in instruction.flags
        offset, terms = index_terms(instruction.extra, indices)
        for position, size in terms:
            index = indices[position]
            if not isinstance(index, Local):
                offset += self.namespace.layout.value(index) * size
                mask = True
                continue
            term, wraps = self._index(index)
            mask = mask or wraps
            text += f" + {term}" if size == 1 else f" + {term} * {size}"
        if offset:
            if text.isdigit():
                text = str((int(text) + offset) & MASK64)
            else:
                text += f" + {offset}" if offset > 0 else f" - {-offset}"
        return [f"{target} = ({text}) & {MASK64}" if mask and not text.isdigit() else f"{target} = {text}"]

    def _index(self, index: Local) -> tuple[str, bool]:
        """A signed 64-bit index, and whether it may stand for a negative number by wrapping."""
        kept, width = self.plan.index_of(index), index.type.bits
        name = f"v{kept}"
        if kept in self.plan.signed_offsets:
            return name, False
        if width == 64:
            found = self.plan.definition.get(kept)
            widened = found is not None and found[1].opcode == "zext"
            return name, not widened
        half = 1 << (width - 1)
        if width == 1:
            return f"(-{name} if {name}.__class__ is bool else sext({name}, 1, 64))", False
        return (
            f"((({name} ^ {half}) - {half}) if {name}.__class__ is int else sext({name}, {width}, 64))",
            False,
        )

    def begin_block(self, instructions: Sequence[Instruction]) -> None:
        """Straight code starts: addresses that it uses more than once are split once."""
        pointers = [self.plan.index_of(p) for i in instructions if (p := accessed(i)) is not None]
        self._split = {f"v{p}": False for p in pointers if pointers.count(p) > 1}

    def _page_of(self, pointer: str) -> tuple[Lines, str, str]:
        """Page number and offset of an address, and a line to compute them before they are used."""
        if pointer.isdigit():
            return [], str(int(pointer) >> PAGE_BITS), str(int(pointer) & PAGE_MASK)
        page, offset = f"{pointer} >> {PAGE_BITS}", f"{pointer} & {PAGE_MASK}"
        done = self._split.get(pointer)
        if done is None:
            return [], page, offset
        self._split[pointer] = True
        return [] if done else [f"p{pointer}, o{pointer} = {page}, {offset}"], f"p{pointer}", f"o{pointer}"

    def _load(self, instruction: Instruction, target: str) -> Lines:
        pointer, type = self.operand(instruction.operands[0]), instruction.type
        width = type.bits
        if not isinstance(type, IntType | PointerType | FloatType) or width not in (8, 16, 32, 64):
            return [f"{target} = load_value(memory, {pointer}, {self.namespace.constant(type)})"]
        before, key, offset = self._page_of(pointer)
        fast = f"S[{key}][{offset}]" if width == 8 else f"U{width // 8}(S[{key}], {offset})[0]"
        return [*before, f"try: {target} = {fast}", f"except SLOW: {target} = load({pointer}, {width // 8})"]

    def _store(self, instruction: Instruction, target: str) -> Lines:
        value, pointer = instruction.operands
        text, address, type = self.operand(value), self.operand(pointer), value.type
        width = type.bits
        if not isinstance(type, IntType | PointerType | FloatType) or width not in (8, 16, 32, 64):
            return [f"store_value(memory, {address}, {self.namespace.constant(type)}, {text})"]
        before, key, offset = self._page_of(address)
        fast = f"W[{key}][{offset}] = {text}" if width == 8 else f"P{width // 8}(W[{key}], {offset}, {text})"
        return [*before, f"try: {fast}", f"except SLOW: store({address}, {width // 8}, {text})"]

    def _alloca(self, instruction: Instruction, target: str, static: bool) -> Lines:
        assert isinstance(instruction.extra, Type) and instruction.result is not None
        count = instruction.operands[0]
        site = self.namespace.allocation(instruction, self.plan.function)
        if instruction.result.index in self.plan.scopes.late:
            return [f"{target} = new_address({site})"]
        if static:
            return [f"{target} = alloca({site}, {static_size(instruction)})"]
        size = instruction.extra.size
        return [
            f"{target} = alloca_many({site}, {self.operand(count)}, {size}, {count.type.bits})",
            f"D = (*D, {target})",
        ]

    def _check(self, instruction: Instruction, target: str) -> Lines:
        """A check of a sanitizer; `check_failed` is called unless it is certain to hold."""
        ok, *values = instruction.operands
        site = self.namespace.constant(instruction.extra)
        passed = "".join(f", ({self.operand(value)}, {value.type.bits})" for value in values)
        text = self.operand(ok)
        if not isinstance(ok, Local):
            return [f"check_failed({text}, {site}{passed})"]
        return [f"if {text} is not True: check_failed({text}, {site}{passed})"]

    def _fence(self, instruction: Instruction, target: str) -> Lines:
        return ["pass"]

    def _cmpxchg(self, instruction: Instruction, target: str) -> Lines:
        pointer, expected, new = map(self.operand, instruction.operands)
        kind = self.namespace.constant(instruction.operands[1].type)
        return [f"{target} = cmpxchg({pointer}, {expected}, {new}, {kind})"]

    def _atomicrmw(self, instruction: Instruction, target: str) -> Lines:
        pointer, value = map(self.operand, instruction.operands)
        kind = self.namespace.constant(instruction.operands[1].type)
        return [f"{target} = atomicrmw({str(instruction.extra)!r}, {pointer}, {value}, {kind})"]

    # ---- aggregates and vectors ----------------------------------------------------------------------

    def _extractvalue(self, instruction: Instruction, target: str) -> Lines:
        assert isinstance(instruction.extra, tuple)
        path = "".join(f"[{index}]" for index in instruction.extra)
        return [f"{target} = {self.operand(instruction.operands[0])}{path}"]

    def _insertvalue(self, instruction: Instruction, target: str) -> Lines:
        aggregate, value = map(self.operand, instruction.operands)
        return [f"{target} = insert_value({aggregate}, {value}, {instruction.extra!r})"]

    def _extractelement(self, instruction: Instruction, target: str) -> Lines:
        vector, index = map(self.operand, instruction.operands)
        kind = self.namespace.constant(instruction.operands[0].type)
        width = instruction.operands[1].type.bits
        return [f"{target} = extract_lane({vector}, {index}, {kind}, {width})"]

    def _insertelement(self, instruction: Instruction, target: str) -> Lines:
        vector, value, index = map(self.operand, instruction.operands)
        kind = self.namespace.constant(instruction.type)
        width = instruction.operands[2].type.bits
        return [f"{target} = insert_lane({vector}, {value}, {index}, {kind}, {width})"]

    def _shufflevector(self, instruction: Instruction, target: str) -> Lines:
        a, b = map(self.operand, instruction.operands[:2])
        kind = self.namespace.constant(instruction.type)
        return [f"{target} = shuffle({a}, {b}, {instruction.extra!r}, {kind})"]
