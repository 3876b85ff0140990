"""Function bodies: lines of text -> blocks of instructions."""

from __future__ import annotations

import re

from anabranch.ir.checks import MARK, NOT_CHECKED, fold_checks
from anabranch.ir.debug import DebugLoc
from anabranch.ir.errors import MALFORMED, IRError, located
from anabranch.ir.instructions import HANDLERS
from anabranch.ir.lexer import TOKEN, name_of, strip_comment, words
from anabranch.ir.module import Block, Function, Instruction
from anabranch.ir.operands import Cursor, Names
from anabranch.ir.types import VOID
from anabranch.ir.values import Local

_LABEL = re.compile(r'\s*([-a-zA-Z$._0-9]+|"[^"]*"):')
_MULTILINE = frozenset(("switch", "invoke", "callbr", "landingpad", "indirectbr", "catchswitch"))
_DBG = re.compile(r"!dbg !(\d{1,9})")
_SKIPPED = words("#dbg_value #dbg_declare #dbg_assign #dbg_label uselistorder uselistorder_bb")
"""First tokens of lines without an instruction: debug records and hints on the order of uses."""


def _attachments(line: str) -> int:
    """Where the metadata attachments of an instruction start, minding strings."""
    cut = line.find(", !")
    while cut >= 0 and line.count('"', 0, cut) % 2:
        cut = line.find(", !", cut + 1)
    return cut if cut >= 0 else len(line)


class BodyReader:
    """Reads one function's lines; made anew for each body."""

    def __init__(self, function: Function, names: Names, lines: list[str], first_line: int) -> None:
        self.function = function
        self.names = names
        self.lines = lines
        self.first_line = first_line
        self.position = 0
        self.resume = 0
        """Lines before this one have been read as part of an earlier instruction."""
        self.count = len(function.params)
        self.blocks: list[Block] = []
        self.cursor = Cursor(names)

    def read(self) -> list[Block]:
        try:
            self._find_labels()
            self._read_lines()
            self._check()
        except MALFORMED as error:
            line = self.lines[self.position] if self.position < len(self.lines) else "}"
            raise located(self.first_line + self.position, error, line) from error
        return fold_checks(self.blocks) if self.names.fold_checks else self.blocks

    def _find_labels(self) -> None:
        """Make the blocks first: branches name blocks that come later."""
        cursor = self.cursor
        started = False
        for position, line in enumerate(self.lines):
            self.position = position
            if line[:2] == "  ":
                if not started:
                    if line.isspace():
                        continue
                    self._add_block("%" + self._implicit_entry())
                    started = True
            elif line and line[0] != ";" and not line.isspace():
                match = _LABEL.match(line)
                if match is not None:
                    self._add_block("%" + match[1])
                    started = True
                elif not started:
                    self._add_block("%" + self._implicit_entry())
                    started = True
        self.position = 0
        if not started:
            raise IRError.at(self.first_line, f"function @{self.function.name} has no blocks")
        for param in self.function.params:
            token = "%" + param.name
            cursor.locals[token if TOKEN.fullmatch(token) else f'%"{param.name}"'] = param

    def _implicit_entry(self) -> str:
        return str(sum(param.name.isdigit() for param in self.function.params))

    def _add_block(self, token: str) -> None:
        if token in self.cursor.blocks:
            raise ValueError(f"block {token} is defined twice")
        self.cursor.blocks[token] = len(self.blocks)
        self.blocks.append(Block(name_of(token), len(self.blocks)))

    def _read_lines(self) -> None:
        lines, cursor, findall, handlers = self.lines, self.cursor, TOKEN.findall, HANDLERS
        places, first_line = self.names.debug.places, self.first_line
        add = self.blocks[0].instructions.append
        for position, line in enumerate(lines):
            if position < self.resume or line[:5] == "    #":
                continue
            self.position = position
            if line[:2] != "  " and (match := _LABEL.match(line)) is not None:
                add = self.blocks[cursor.blocks["%" + match[1]]].instructions.append
                continue
            if ";" in line:
                line = strip_comment(line)
            loc, marked = None, False
            cut = line.find(", !")
            if cut > 0:
                if '"' in line:
                    cut = _attachments(line)
                marked = MARK in line
                if (start := line.find("!dbg !", cut)) >= 0:
                    loc = places[line[start + 6 :].partition(",")[0]]
                line = line[:cut]
            tokens = findall(line)
            if not tokens or tokens[0] in _SKIPPED:
                continue
            result, opcode, pos = None, tokens[0], 1
            if opcode[0] == "%":
                if tokens[1] != "=":
                    raise ValueError(f"expected '=', found '{tokens[1]}'")
                result, opcode, pos = opcode, tokens[2], 3
            if opcode in _MULTILINE:
                tokens, loc = self._logical_line()
            handler = handlers.get(opcode)
            if handler is None:
                raise ValueError(f"unknown instruction '{opcode}'")
            cursor.tokens = tokens
            cursor.pos = pos
            instruction = handler(cursor, opcode)
            if instruction is not None:
                if cursor.pos < len(tokens) and tokens[cursor.pos] != ",":
                    raise ValueError(f"unexpected '{tokens[cursor.pos]}'")
                instruction.loc = loc
                instruction.text_line = first_line + position
                if marked:
                    flags = instruction.flags
                    instruction.flags = flags | NOT_CHECKED if flags else NOT_CHECKED
                if result is not None:
                    self._define(result, instruction)
                add(instruction)
        self.function.local_count = self.count

    def _define(self, token: str, instruction: Instruction) -> None:
        """Give the instruction its result, which uses further up may have named already."""
        locals_ = self.cursor.locals
        local = locals_.get(token)
        if local is None:
            if instruction.type is VOID:
                raise ValueError(f"{token} names an instruction without a result")
            local = locals_[token] = Local(name_of(token), instruction.type, self.count)
        elif local.index >= 0:
            raise ValueError(f"{token} is defined twice")
        elif local.type is not instruction.type:
            raise ValueError(f"{token} has type {instruction.type}, used as {local.type}")
        else:
            local.index = self.count
        instruction.result = local
        self.count += 1

    def _logical_line(self) -> tuple[list[str], DebugLoc | None]:
        """Tokens and place of an instruction that may go on over the next lines."""
        parts = [strip_comment(self.lines[self.position])]
        while self.position + 1 < len(self.lines):
            line = self.lines[self.position + 1]
            if not (line.startswith("    ") or line.startswith("  ]")) or line.lstrip().startswith("#"):
                break
            self.position += 1
            parts.append(strip_comment(line))
        self.resume = self.position + 1
        line = " ".join(parts)
        cut = _attachments(line)
        found = _DBG.search(line, cut)
        loc = self.names.debug.places[found[1]] if found else None
        return TOKEN.findall(line[:cut]), loc

    def _check(self) -> None:
        self.position = len(self.lines)
        for token, local in self.cursor.locals.items():
            if local.index < 0:
                raise ValueError(f"use of undefined value {token}")
        for block in self.blocks:
            if not block.instructions or not block.instructions[-1].is_terminator:
                raise ValueError(f"block %{block.name} has no terminator")
