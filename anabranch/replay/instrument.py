"""Coverage counters written into LLVM text.

The pieces of code, lines and branches are those by which the engine counts coverage (`explore.blocks`), so
that a line means the same natively and in the engine. Every piece sets one byte, every branch the byte of the
side that it takes; which byte is which line is known here and needs no reading of machine code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from anabranch.explore.blocks import Branch, branches_of, pieces_of
from anabranch.ir import Module, read_module
from anabranch.ir.module import Block, Function, Instruction

_PAGE = 4096
_CONDITION = re.compile(r"\bbr i1 (.+?), label ")
_SWITCH = re.compile(r"\bswitch (i\d+) (.+?), label ")
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)
_NO_CHECK = "!nosanitize"


@dataclass
class CoverageMap:
    """What each counter stands for: lines of pieces, and (file, line) of the branch for its sides."""

    size: int = 0
    pieces: dict[int, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    branches: list[tuple[str, int, tuple[int, ...]]] = field(default_factory=list)
    functions: dict[str, tuple[str, int]] = field(default_factory=dict)

    def new(self) -> int:
        self.size += 1
        return self.size - 1


class Insertion:
    """Collects the lines to insert into a module, by the line of text that they come before."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.before: dict[int, list[str]] = {}
        self._names = 0

    def add(self, line: int, *texts: str) -> None:
        self.before.setdefault(line, []).extend(texts)

    def name(self) -> str:
        """Of a value that is new."""
        self._names += 1
        return f"%anabranch.{self._names}"

    def inserted(self) -> list[str]:
        """The lines of the module with those that were added."""
        out: list[str] = []
        for number, line in enumerate(self.lines, 1):
            out += self.before.get(number, ())
            out.append(line)
        return out


class _Writer(Insertion):
    """Adds counters."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.map = CoverageMap()
        self.node = max((int(found) for found in _NODE.findall(text)), default=-1) + 1

    def set_counter(self, line: int, index: str) -> None:
        pointer = self.name()
        self.add(
            line,
            f"  {pointer} = getelementptr i8, ptr @anabranch_counters, i64 {index}",
            f"  store i8 1, ptr {pointer}, align 1, {_NO_CHECK} !{self.node}",
        )

    def text(self) -> str:
        size = max(_PAGE, (self.map.size + _PAGE - 1) // _PAGE * _PAGE)
        counters = [
            f"@anabranch_counters = global [{size} x i8] zeroinitializer, no_sanitize_address, align {_PAGE}",
            f"@anabranch_counters_size = constant i64 {size}, no_sanitize_address",
            f"!{self.node} = !{{}}",
            "",
        ]
        return "\n".join(self.inserted() + counters)


def instrument(text: str) -> tuple[str, CoverageMap]:
    """The module with counters, and what they mean. Functions without source lines are left as they are."""
    module: Module = read_module(text)
    writer = _Writer(text)
    for function in module.defined_functions():
        subprogram = function.subprogram
        if subprogram is None:
            continue
        writer.map.functions[function.name] = (subprogram.file, subprogram.line)
        _pieces(writer, function)
        for branch in branches_of(function):
            _branch(writer, function.blocks[branch.block], branch)
    return writer.text(), writer.map


def _first_line(block: Block, start: int) -> int:
    """Line of the first instruction from `start` on before which others may stand."""
    for instruction in block.instructions[start:]:
        if instruction.opcode not in ("phi", "landingpad"):
            return instruction.text_line
    return 0


def _pieces(writer: _Writer, function: Function) -> None:
    for piece in pieces_of(function, after_calls=True):
        lines = tuple(line for line, _ in piece.lines)
        at = _first_line(function.blocks[piece.block], piece.start)
        if not lines or not at:
            continue
        number = writer.map.new()
        writer.map.pieces[number] = lines
        writer.set_counter(at, str(number))


def _branch(writer: _Writer, block: Block, branch: Branch) -> None:
    last = block.instructions[-1]
    line = writer.lines[last.text_line - 1]
    if _NO_CHECK in line or last.loc is None or last.loc.line <= 0:
        return
    if last.opcode == "br":
        found = _CONDITION.search(line)
    elif last.opcode == "switch":
        found = _SWITCH.search(line)
    else:
        return
    if found is None:
        return
    sides = {target: writer.map.new() for target in branch.sides}
    writer.map.branches.append((last.loc.file, last.loc.line, tuple(sides.values())))
    if last.opcode == "br":
        index = writer.name()
        true, false = (sides[target] for target in last.targets)
        writer.add(last.text_line, f"  {index} = select i1 {found[1]}, i64 {true}, i64 {false}")
    else:
        index = _switch(writer, last, sides, found[1], found[2])
    writer.set_counter(last.text_line, index)


def _switch(writer: _Writer, last: Instruction, sides: dict[int, int], type_text: str, value: str) -> str:
    """Number of the side that a switch takes: one comparison a case."""
    assert isinstance(last.extra, tuple)
    index = str(sides[last.targets[0]])
    for case, target in zip(last.extra, last.targets[1:], strict=True):
        equal, chosen = writer.name(), writer.name()
        writer.add(
            last.text_line,
            f"  {equal} = icmp eq {type_text} {value}, {case}",
            f"  {chosen} = select i1 {equal}, i64 {sides[target]}, i64 {index}",
        )
        index = chosen
    return index
