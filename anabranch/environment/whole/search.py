"""Measuring and searching without a fork: `strlen`, `strchr`, `memchr`, `strspn` and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anabranch.environment.api import MachineApi, Value
from anabranch.environment.ops import Condition, both, choice, either, eq, ite, ne, negated
from anabranch.environment.values import low_byte
from anabranch.environment.whole.registry import whole
from anabranch.environment.whole.walks import Exits, walk
from anabranch.environment.whole.windows import Answer, Values, Window, look_at, settled, truth
from anabranch.expr import Expr

NUMBER = (64,)
FOUND = (1, 64)  # whether there is one, and its address


def searched(
    m: MachineApi,
    limit: int,
    src: Value,
    build: Callable[[Window], Answer],
    widths: Sequence[int],
    *scalars: Value,
) -> Values | None:
    """What `build` says of the bytes at `src`, if there is something symbolic about it."""
    views = look_at(m, limit, [src], scalars)
    return settled(m, views[0], views[0].lifted(build, widths)) if views else None


def number(values: Values | None) -> Value | None:
    return None if values is None else values[0]


def pointer(values: Values | None) -> Value | None:
    """The address of what was found, or null."""
    return None if values is None else ite(truth(values[0]), values[1], 0, 64)


def length_of(text: Window, limit: Value | None = None) -> Answer:
    """The index of the NUL, or the limit."""

    def step(i: int) -> tuple[Condition, Exits]:
        return text.bad[i], [(eq(text.data[i], 0, 8), (i,))]

    return walk(len(text), step, NUMBER, limit, lambda i: (i,))


@whole("strlen")
def strlen(m: MachineApi, limit: int, src: Value) -> Value | None:
    return number(searched(m, limit, src, length_of, NUMBER))


@whole("strnlen")
def strnlen(m: MachineApi, limit: int, src: Value, n: Value) -> Value | None:
    return number(searched(m, limit, src, lambda text: length_of(text, n), NUMBER, n))


def character_in(text: Window, wanted: Value, limit: Value | None = None, ends: bool = True) -> Answer:
    """Where a character is first, in a string (which `ends` with NUL) or in a block."""

    def step(i: int) -> tuple[Condition, Exits]:
        exits: Exits = [(eq(text.data[i], wanted, 8), (True, text.at(i)))]
        if ends:
            exits.append((eq(text.data[i], 0, 8), (False, None)))
        return text.bad[i], exits

    return walk(len(text), step, FOUND, limit, lambda i: (False, None))


@whole("strchr", "index")
def strchr(m: MachineApi, limit: int, src: Value, char: Value) -> Value | None:
    wanted = low_byte(char)
    return pointer(searched(m, limit, src, lambda text: character_in(text, wanted), FOUND, wanted))


@whole("memchr")
def memchr(m: MachineApi, limit: int, src: Value, char: Value, n: Value) -> Value | None:
    wanted = low_byte(char)

    def build(text: Window) -> Answer:
        return character_in(text, wanted, n, ends=False)

    return pointer(searched(m, limit, src, build, FOUND, wanted, n))


@whole("rawmemchr")
def rawmemchr(m: MachineApi, limit: int, src: Value, char: Value) -> Value | None:
    return _stop(m, limit, src, low_byte(char), ends=False)


@whole("strchrnul", "__strchrnul")
def strchrnul(m: MachineApi, limit: int, src: Value, char: Value) -> Value | None:
    return _stop(m, limit, src, low_byte(char), ends=True)


def _stop(m: MachineApi, limit: int, src: Value, wanted: Value, ends: bool) -> Value | None:
    """The address of the first byte that is the character or, if the text `ends` with it, NUL."""

    def build(text: Window) -> Answer:
        def step(i: int) -> tuple[Condition, Exits]:
            byte = text.data[i]
            nul = ends and eq(byte, 0, 8)
            return text.bad[i], [(either(eq(byte, wanted, 8), nul), (text.at(i),))]

        return walk(len(text), step, NUMBER)

    return number(searched(m, limit, src, build, NUMBER, wanted))


def last_character_in(text: Window, wanted: Value) -> Answer:
    """Where a character is last in a string; the NUL counts."""
    past: Condition = True
    found: Condition = False
    address: Value | None = None
    for i in reversed(range(len(text))):
        nul, here = eq(text.data[i], 0, 8), eq(text.data[i], wanted, 8)
        past = either(text.bad[i], both(negated(nul), past))
        later = both(negated(nul), found)
        address = text.at(i) if address is None else ite(later, address, text.at(i), 64)
        found = either(here, later)
    return Answer(past, (found, 0 if address is None else address))


@whole("strrchr", "rindex")
def strrchr(m: MachineApi, limit: int, src: Value, char: Value) -> Value | None:
    wanted = low_byte(char)
    return pointer(searched(m, limit, src, lambda text: last_character_in(text, wanted), FOUND, wanted))


def last_in_block(text: Window, wanted: Value, n: Value) -> Answer:
    """Where a character is last in a block of `n` bytes, which is read from its end."""
    answers = [Answer(False, (False, 0))]  # by size
    for i in range(len(text)):
        past, (found, address) = answers[-1].past, answers[-1].values
        here = eq(text.data[i], wanted, 8)
        latest = ite(here, text.at(i), address, 64) if i else text.at(i)
        answers.append(
            Answer(either(text.bad[i], both(negated(here), past)), (either(here, truth(found)), latest))
        )
    if not isinstance(n, Expr):
        return answers[n] if n < len(answers) else Answer(True, (False, 0))
    result = Answer(True, (False, 0))
    for size, answer in reversed(list(enumerate(answers))):
        here = eq(n, size, 64)
        values = (ite(here, a, b, w) for a, b, w in zip(answer.values, result.values, FOUND, strict=True))
        result = Answer(choice(here, answer.past, result.past), tuple(values))
    return result


@whole("memrchr", "__memrchr")
def memrchr(m: MachineApi, limit: int, src: Value, char: Value, n: Value) -> Value | None:
    wanted = low_byte(char)
    return pointer(searched(m, limit, src, lambda text: last_in_block(text, wanted, n), FOUND, wanted, n))


class CharacterSet:
    """The characters of a string, the NUL not among them."""

    __slots__ = ("_members", "past")

    def __init__(self, text: Window) -> None:
        self.past = length_of(text).past
        self._members: dict[Value, Condition] = {}  # character -> the string goes as far as to have it
        alive: Condition = True
        for byte in text.data:
            alive = both(alive, ne(byte, 0, 8))
            if alive is False:
                break
            self._members[byte] = either(self._members.get(byte, False), alive)

    def has(self, byte: Value) -> Condition:
        """Whether a byte is one of them."""
        result: Condition = False
        for member, alive in self._members.items():
            result = either(result, both(alive, eq(byte, member, 8)))
        return result


def over_a_set(
    m: MachineApi,
    limit: int,
    src: Value,
    chars: Value,
    exits: Callable[[Window, CharacterSet, int], Exits],
    widths: Sequence[int],
) -> Values | None:
    """A walk over a string that asks each byte whether it is in a set."""
    views = look_at(m, limit, [chars, src])
    if not views:
        return None
    members = CharacterSet(views[0].gathered())

    def build(text: Window) -> Answer:
        return walk(len(text), lambda i: (text.bad[i], exits(text, members, i)), widths)

    answer = views[1].lifted(build, widths)
    if m.decide(either(views[0].outside, members.past)):
        return None
    return settled(m, views[1], answer)


@whole("strspn")
def strspn(m: MachineApi, limit: int, src: Value, accept: Value) -> Value | None:
    def exits(text: Window, members: CharacterSet, i: int) -> Exits:
        return [(negated(members.has(text.data[i])), (i,))]

    return number(over_a_set(m, limit, src, accept, exits, NUMBER))


@whole("strcspn")
def strcspn(m: MachineApi, limit: int, src: Value, reject: Value) -> Value | None:
    def exits(text: Window, members: CharacterSet, i: int) -> Exits:
        return [(either(eq(text.data[i], 0, 8), members.has(text.data[i])), (i,))]

    return number(over_a_set(m, limit, src, reject, exits, NUMBER))


@whole("strpbrk")
def strpbrk(m: MachineApi, limit: int, src: Value, accept: Value) -> Value | None:
    def exits(text: Window, members: CharacterSet, i: int) -> Exits:
        byte = text.data[i]
        return [(members.has(byte), (True, text.at(i))), (eq(byte, 0, 8), (False, None))]

    return pointer(over_a_set(m, limit, src, accept, exits, FOUND))
