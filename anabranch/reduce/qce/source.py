"""Counts as a person reads them: by source line and by the names of the source."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.analysis.addresses import Base
from anabranch.analysis.cfg import build_cfg
from anabranch.ir.module import Block, Function, Module
from anabranch.reduce.qce.counts import Counts
from anabranch.reduce.qce.estimator import QueryCounts
from anabranch.reduce.qce.parameters import QceParameters


@dataclass(frozen=True, slots=True)
class NamedCount:
    name: str
    count: float
    hot: bool


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """The counts at the entry of a block."""

    function: str
    block: int
    file: str
    line: int
    """Of the block's first instruction that has one; 0 if none has."""
    total: float
    exponent: int
    variables: tuple[NamedCount, ...]
    """Largest first."""


def local_name(function: Function, index: int) -> str:
    """The source variable a local holds; its name in the IR where debug information has none."""
    known = function.variable_names.get(index)
    if known:
        return known
    if index < len(function.params):
        return function.param_names[index] or f"%{function.params[index].name}"
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.result is not None and instruction.result.index == index:
                return f"%{instruction.result.name}"
    return f"%{index}?"


def memory_name(module: Module, function: Function, base: Base, offset: int | None) -> str:
    """`x+8` for memory of a variable, `*p+8` for memory behind a pointer; [..] for no constant offset."""
    if base[0] == "global":
        name = module.globals[base[1]].source_name if base[1] in module.globals else base[1]
    else:
        name = ("" if base[0] == "alloca" else "*") + local_name(function, base[1])
    if offset is None:
        return f"{name}[..]"
    return name if offset == 0 else f"{name}{offset:+}"


def named(
    module: Module, function: Function, counts: Counts, parameters: QceParameters
) -> tuple[NamedCount, ...]:
    """All variables of a location by name, those with the largest counts first; of equal names the
    largest."""
    hot = counts.hot(parameters)
    found: list[NamedCount] = [
        NamedCount(local_name(function, index), count, index in hot.locals)
        for index, count in counts.locals.items()
    ]
    found.extend(
        NamedCount(memory_name(module, function, *key), count, key in hot.memory)
        for key, count in counts.memory.items()
    )
    found.extend(
        NamedCount(memory_name(module, function, base, None), count, base in hot.any_offset)
        for base, count in counts.any_offset.items()
    )
    if counts.heap:
        found.append(NamedCount("other memory", counts.heap, hot.heap))
    found.sort(key=lambda named: (-named.count, named.name))
    return tuple({named.name: named for named in reversed(found)}.values())[::-1]


def source_line(block: Block) -> tuple[str, int]:
    for instruction in block.instructions:
        if instruction.opcode != "phi" and instruction.loc is not None and instruction.loc.line:
            return instruction.loc.file, instruction.loc.line
    return "", 0


def by_source(estimator: QueryCounts, function: str) -> list[SourceCounts]:
    """Counts at the entry of every reachable block of a function, in the order of its lines."""
    module = estimator.module
    body = module.functions[function]
    result = []
    for block in build_cfg(body).order:
        counts = estimator.at(function, block)
        file, line = source_line(body.blocks[block])
        variables = named(module, body, counts, estimator.parameters)
        result.append(SourceCounts(function, block, file, line, counts.total, counts.exponent, variables))
    result.sort(key=lambda c: (c.line, c.block))
    return result


def _number(value: float, exponent: int) -> str:
    return f"{value:.4g}" + (f"*2^{exponent}" if exponent else "")


def format_counts(rows: list[SourceCounts], most: int = 6) -> str:
    """One line a block: place, Q_t, and the variables with the largest Q_add, hot ones with a star."""
    lines = []
    for row in rows:
        shown = [
            f"{v.name}{'*' if v.hot else ''} {_number(v.count, row.exponent)}" for v in row.variables[:most]
        ]
        rest = len(row.variables) - len(shown)
        more = f", {rest} more" if rest else ""
        place = f"{row.function}:{row.line} block {row.block}"
        lines.append(f"{place:<28} {_number(row.total, row.exponent):>10}  {', '.join(shown)}{more}".rstrip())
    return "\n".join(lines)
