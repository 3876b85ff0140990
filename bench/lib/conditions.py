"""Path conditions as the engine writes them: which input bytes their variables stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bench.lib.bitslice import Sliced, input_tables
from bench.lib.engine import EngineFailure, TestRecord
from bench.lib.generate import Program
from bench.lib.smt import App, Reader, Script, Term

# |name#7| is a whole object, |name[2]#7| the part of an object that starts at byte 2.
_SYMBOL = re.compile(r"^\|?(?P<name>.*?)(?:\[(?P<offset>\d+)\])?#-?\d+\|?$", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """Where the value of a variable is found in a test."""

    name: str
    offset: int
    bits: int


def place_of(symbol: str, sort: Term) -> Place:
    found = _SYMBOL.match(symbol)
    if found is None:
        raise EngineFailure(f"a path condition has the unknown variable {symbol}")
    bits = 1
    if isinstance(sort, App) and sort.parts[1] == "BitVec":
        bits = int(str(sort.parts[2]))
    return Place(found["name"], int(found["offset"] or 0), bits)


def bits_of_float(term: Term) -> tuple[str, Term] | None:
    """(variable, floating-point term) if an assertion says that the variable is the bits of the term.

    SMT-LIB has no function from floating point to bits, so a condition that needs them declares a variable
    b and asserts (or (fp.isNaN f) (= (to_fp b) f)). That excludes no input: it is a definition.
    """
    if not isinstance(term, App) or term.head != "or" or len(term.parts) != 3:
        return None
    nan, equal = term.parts[1:]
    if not isinstance(nan, App) or not isinstance(equal, App):
        return None
    if nan.head != "fp.isNaN" or equal.head != "=" or equal.parts[2] is not nan.parts[1]:
        return None
    cast = equal.parts[1]
    if isinstance(cast, App) and len(cast.parts) == 2 and isinstance(cast.parts[1], str):
        return cast.parts[1], nan.parts[1]
    return None


def read_conditions(reader: Reader, tests: list[TestRecord]) -> list[Script]:
    scripts = []
    for test in tests:
        if test.condition is None:
            raise EngineFailure(f"test {test.number} has no path condition")
        scripts.append(reader.read_file(test.condition))
    return scripts


def variable_tables(program: Program, constants: dict[str, Term]) -> dict[str, Sliced]:
    """What each variable is for every input of the program."""
    count = program.input_count
    values: dict[str, list[int]] = {}
    factor = 1
    for item in program.inputs:
        values[item.name] = [n // factor % item.count for n in range(count)]
        factor *= item.count
    tables: dict[str, Sliced] = {}
    for symbol, sort in constants.items():
        if "#" not in symbol:
            continue  # the bits of a floating-point term, defined in the condition itself
        place = place_of(symbol, sort)
        if place.name not in values:
            raise EngineFailure(f"a path condition depends on {symbol}, which is not an input")
        shifted = [v >> (8 * place.offset) for v in values[place.name]]
        tables[symbol] = input_tables(shifted, place.bits)
    return tables


def at_most(reader: Reader, constants: dict[str, Term], name: str, limit: int) -> Term:
    """The term `object <= limit`, unsigned and little-endian, over the variables of the object."""
    parts = []
    for symbol, sort in constants.items():
        if "#" not in symbol:
            continue
        place = place_of(symbol, sort)
        if place.name == name:
            parts.append((place.offset, place.bits, symbol))
    if not parts:
        raise EngineFailure(f"no path condition mentions {name}")
    parts.sort(reverse=True)
    whole: Term = parts[0][2]
    for _, _, symbol in parts[1:]:
        whole = reader.app("concat", whole, symbol)
    number = reader.app("_", f"bv{limit}", str(sum(bits for _, bits, _ in parts)))
    return reader.app("bvule", whole, number)
