"""Loops over data of unknown size: chains of them, nested ones, recurrences, early exits."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.lib.gen.scope import Source

RECURRENCES = (
    "{v} += {c}", "{v} = {v} * 3u + {c}", "{v} = ({v} << 1 | {v} >> 31) + {c}", "{v} = {v} * 31u ^ {c}",
    "{v} = {v} > {c} ? {v} : {c}",
)  # fmt: skip


@dataclass(frozen=True)
class Alphabet:
    """The characters that the input is made of: `count` of them in a row."""

    first: int
    count: int

    def any(self, rng: random.Random) -> str:
        return f"{self.first + rng.randrange(self.count)}u"


@dataclass
class Buffer:
    """Bytes to loop over: as many as `length` says, or (a text) up to a zero, with `length` bytes at most."""

    name: str
    length: str
    text: bool
    positions: list[str] = field(default_factory=list)
    """Variables that loops have left somewhere from the start to the end of it."""


@dataclass(frozen=True)
class Callee:
    """A function with a loop (`span`: where it stopped) or without one (`test`: of one character)."""

    name: str
    text: bool


class LoopStatements:
    """Writes statements; some are wrong for some inputs."""

    def __init__(self, rng: random.Random, source: Source, alphabet: Alphabet, exact: bool) -> None:
        self.rng = rng
        self.source = source
        self.alphabet = alphabet
        self.exact = exact  # only what the path decides may show
        self.buffers: list[Buffer] = []
        self.spans: list[Callee] = []
        self.tests: list[str] = []
        self.leave = "return {code};"
        self.plain = True
        """No call of a library function that may fork by itself."""

    # --- parts

    def condition(self, place: str) -> str:
        """A condition on the character at a place. Functions are given the place: natively, a value that was
        passed on does not tell that it was never written."""
        rng, one, two = self.rng, self.alphabet.any(self.rng), self.alphabet.any(self.rng)
        if self.tests and rng.random() < 0.3:
            return f"{rng.choice(self.tests)}(&{place})"
        c = f"USE({place})"
        return rng.choice(
            (f"{c} == {one}", f"{c} != {one}", f"({c} == {one} || {c} == {two})", f"{c} > {one}",
             f"({c} >= {one} && {c} != {two})", f"{c} <= {one}")
        )  # fmt: skip

    def start(self, buffer: Buffer) -> str:
        """Where a loop begins: mostly where one before it stopped."""
        if buffer.positions and self.rng.random() < 0.75:
            return self.rng.choice(buffer.positions[-2:])
        return "0"

    def inside(self, buffer: Buffer, at: str) -> str:
        """The condition that a position is not at the end; seldom one too far."""
        if buffer.text:
            return f"USE({buffer.name}[{at}])"
        return f"{at} {'<=' if self.rng.random() < 0.06 else '<'} {buffer.length}"

    def result(self, buffer: Buffer, at: str) -> None:
        """A loop has left `at` somewhere in the buffer."""
        buffer.positions.append(at)
        self.source.statement(f"sink = sink * 5 + {at};")
        if self.rng.random() < 0.5:
            self.decide(at)

    def decide(self, number: str) -> None:
        """A branch on a small number that a loop computed, or an assertion about it."""
        rng, source = self.rng, self.source
        shape = rng.random()
        if shape < 0.15:
            source.statement(f"assert({number} != {rng.randrange(2, 5)}u);")
            return
        source.open(f"if ({number} {rng.choice(('==', '>', '<'))} {rng.randrange(1, 4)}u)")
        if shape < 0.3:
            source.statement(self.rng.choice(("abort();", f"exit({rng.randrange(1, 90)});")))
        else:
            source.statement(f"putchar({rng.randrange(97, 123)});")
        source.close()

    def value(self, name: str) -> None:
        """What becomes of a value that the data decides: it is compared, and shown where that is allowed."""
        source, rng = self.source, self.rng
        source.open(f"if ({name} {rng.choice(('==', '==', '>'))} {rng.randrange(0, 40)}u)")
        source.statement(rng.choice(("sink += 3;", "putchar(33);", "exit(5);", "assert(sink == 1);")))
        source.close()
        if not self.exact:
            source.statement(f"sink ^= (u64){name} << 8;")

    def buffer(self) -> Buffer:
        return self.rng.choice(self.buffers[-2:])

    def early(self, place: str, at: str) -> None:
        """A way out in the middle of a round, or the end of the program."""
        rng, source = self.rng, self.source
        source.open(f"if ({self.condition(place)}{rng.choice(('', f' && {at} > {rng.randrange(3)}u'))})")
        leave = self.leave.format(code=rng.randrange(1, 60))
        source.statement(
            rng.choice(("break;", "break;", "break;", leave, "abort();", f"exit({rng.randrange(99)});"))
        )
        source.close()

    # --- loops

    def span(self) -> None:
        """Forwards while a condition holds."""
        self.span_of(self.buffer())

    def span_of(self, buffer: Buffer) -> None:
        source = self.source
        k = source.fresh("k")
        source.statement(f"u32 {k} = {self.start(buffer)};")
        place = f"{buffer.name}[{k}]"
        ended = self.inside(buffer, k)
        if buffer.text and self.rng.random() < 0.3:
            ended = f"USE({place}) != 0"
        source.open(f"while ({ended} && {self.condition(place)})")
        source.statement(f"{k}++;")
        source.close()
        self.result(buffer, k)

    def exits(self) -> None:
        """Two ways out of a round, one of them in its middle."""
        buffer, source = self.buffer(), self.source
        k = source.fresh("k")
        source.statement(f"u32 {k} = {self.start(buffer)};")
        source.open(f"while ({self.inside(buffer, k)})")
        if self.rng.random() < 0.4:
            source.statement("sink++;")
        self.early(f"{buffer.name}[{k}]", k)
        source.statement(f"{k}++;")
        source.close()
        self.result(buffer, k)

    def members(self) -> None:
        """As `strspn`: each character is looked for in a set; one loop, or one in another."""
        buffer, source, rng = self.buffer(), self.source, self.rng
        k, p, one = source.fresh("k"), source.fresh("p"), source.fresh("set")
        letters = [self.alphabet.any(rng) for _ in range(2)]
        source.statement(f"u8 {one}[3] = {{{letters[0]}, {letters[1]}, 0}};")
        source.statement(f"u32 {k} = {self.start(buffer)}, {p} = 0;")
        if rng.random() < 0.5:
            source.open(f"while ({one}[{p}] && {self.inside(buffer, k)})")
            source.open(f"if ({one}[{p}] == USE({buffer.name}[{k}]))")
            source.statement(f"{k}++;")
            source.statement(f"{p} = 0;")
            source.close("} else {")
            source.indent += 1
            source.statement(f"{p}++;")
            source.close()
            source.close()
        else:
            source.open(f"while ({self.inside(buffer, k)})")
            source.statement(f"{p} = 0;")
            source.open(f"while ({one}[{p}] && {one}[{p}] != USE({buffer.name}[{k}]))")
            source.statement(f"{p}++;")
            source.close()
            source.open(f"if (!{one}[{p}])")
            source.statement("break;")
            source.close()
            source.statement(f"{k}++;")
            source.close()
        self.result(buffer, k)

    def recurrence(self) -> None:
        """A sum, a hash, or a number that is parsed."""
        buffer, source, rng = self.buffer(), self.source, self.rng
        i, v = source.fresh("at"), source.fresh("v")
        c = f"USE({buffer.name}[{i}])"
        more = self.inside(buffer, i)
        if rng.random() < 0.5:
            more += f" && {c} >= {self.alphabet.any(rng)}"
        source.statement(f"u32 {v} = {rng.choice(('0', '1', '7'))}, {i} = {self.start(buffer)};")
        source.open(f"for (; {more}; {i}++)")
        step = rng.choice(RECURRENCES).format(v=v, c=f"({c} - {max(self.alphabet.first, 1) - 1}u)")
        if "?" in step:
            source.open(f"if ({c} > {v})")
            step = f"{v} = {c}"
            source.statement(f"{step};")
            source.close()
        else:
            source.statement(f"{step};")
        source.close()
        self.result(buffer, i)
        self.value(v)

    def count(self) -> None:
        """How many characters are of a kind; the path decides the number."""
        buffer, source = self.buffer(), self.source
        i, n = source.fresh("at"), source.fresh("n")
        source.statement(f"u32 {n} = 0;")
        source.open(f"for (u32 {i} = {self.start(buffer)}; {self.inside(buffer, i)}; {i}++)")
        source.open(f"if ({self.condition(f'{buffer.name}[{i}]')})")
        source.statement(f"{n}++;")
        source.close()
        source.close()
        source.statement(f"sink = sink * 5 + {n};")
        self.decide(n)

    def backwards(self) -> None:
        """From where a loop stopped towards the start."""
        buffer, source, rng = self.buffer(), self.source, self.rng
        if not buffer.positions:
            self.span_of(buffer)
        e = source.fresh("e")
        source.statement(f"u32 {e} = {rng.choice(buffer.positions[-2:])};")
        guard = f"{e} > 0 && " if rng.random() < 0.92 else ""
        source.open(f"while ({guard}{self.condition(f'{buffer.name}[(i32){e} - 1]')})")
        source.statement(f"{e}--;")
        source.close()
        self.result(buffer, e)
        if buffer.text and rng.random() < 0.5:
            source.statement(f"WR({buffer.name}[{e}]) = 0;")

    def write(self) -> None:
        """A write where a loop stopped."""
        buffer, source, rng = self.buffer(), self.source, self.rng
        if not buffer.positions:
            self.span_of(buffer)
        k = rng.choice(buffer.positions[-2:])
        guarded = not buffer.text and rng.random() < 0.6
        if guarded:
            source.open(f"if ({k} < {buffer.length})")
        source.statement(f"WR({buffer.name}[{k}]) = {rng.choice(('0', self.alphabet.any(rng)))};")
        if guarded:
            source.close()

    def copy(self) -> None:
        """A copy, of all or of some characters; what was copied is a text."""
        buffer, source, rng = self.buffer(), self.source, self.rng
        d, i, o = source.fresh("d"), source.fresh("at"), source.fresh("o")
        made = Buffer(d, buffer.length, True)
        source.statement(f"u8 *{d} = HEAP({buffer.length} + {'1u' if rng.random() < 0.93 else '0u'});")
        source.statement(f"u32 {i} = {self.start(buffer)}, {o} = 0;")
        if buffer.text and rng.random() < 0.4:
            source.open(f"while ((WR({d}[{o}]) = USE({buffer.name}[{i}])) != 0)")
            source.statement(f"{i}++;")
            source.statement(f"{o}++;")
            source.close()
        else:
            source.open(f"while ({self.inside(buffer, i)})")
            some = rng.random() < 0.6
            if some:
                source.open(f"if ({self.condition(f'{buffer.name}[{i}]')})")
            source.statement(f"WR({d}[{o}++]) = USE({buffer.name}[{i}]);")
            if some:
                source.close()
            source.statement(f"{i}++;")
            source.close()
            source.statement(f"WR({d}[{o}]) = 0;")
        self.buffers.append(made)
        self.result(made, o)

    def lines(self) -> None:
        """A loop in a loop: lines, and the longest of them."""
        buffer, source, rng = self.buffer(), self.source, self.rng
        k, size, best, end = (source.fresh(stem) for stem in ("k", "size", "best", "end"))
        source.statement(f"u32 {k} = {self.start(buffer)}, {best} = 0;")
        source.statement(f"u8 {end} = {self.alphabet.any(rng)};")
        more = self.inside(buffer, k)
        source.open(f"while ({more})")
        source.statement(f"u32 {size} = 0;")
        source.open(f"while ({self.inside(buffer, k)} && USE({buffer.name}[{k}]) != {end})")
        source.statement(f"{k}++;")
        source.statement(f"{size}++;")
        source.close()
        source.open(f"if ({size} > {best})")
        source.statement(f"{best} = {size};")
        source.close()
        source.open(f"if ({more})")  # one too far in the loop's condition, too: it comes to an end
        source.statement(f"{k}++;")
        source.close()
        source.close()
        self.result(buffer, k)
        self.decide(best)

    def pairs(self) -> None:
        """For each position, a loop over those after it: are two characters the same?"""
        buffer, source = self.buffer(), self.source
        i, j, n = source.fresh("at"), source.fresh("j"), source.fresh("n")
        source.statement(f"u32 {n} = 0;")
        source.open(f"for (u32 {i} = {self.start(buffer)}; {self.inside(buffer, i)}; {i}++)")
        source.open(f"for (u32 {j} = {i} + 1u; {self.inside(buffer, j)}; {j}++)")
        source.open(f"if (USE({buffer.name}[{i}]) == USE({buffer.name}[{j}]))")
        source.statement(self.rng.choice((f"{n}++;", f"{n}++; break;")))
        source.close()
        source.close()
        source.close()
        source.statement(f"sink += {n};")
        self.decide(n)

    def call(self) -> None:
        """A loop in a function, of which the position comes back."""
        buffer = self.buffer()
        fit = [f for f in self.spans if f.text == buffer.text]
        if not fit:
            self.span()
            return
        k = self.source.fresh("k")
        name = self.rng.choice(fit).name
        length = "0" if buffer.text else buffer.length
        self.source.statement(f"u32 {k} = {name}({buffer.name}, {length}, {self.start(buffer)});")
        self.result(buffer, k)

    def region(self) -> None:
        """A part that the program itself marks to be merged."""
        self.source.statement("klee_open_merge();")
        self.rng.choice((self.span, self.count, self.members, self.copy, self.exits))()
        self.source.statement("klee_close_merge();")

    def statement(self) -> None:
        kinds: list[tuple[float, Callable[[], None]]] = [
            (4, self.span), (2, self.exits), (1.5, self.members), (2.5, self.recurrence), (1.5, self.count),
            (2, self.backwards), (2, self.write), (2, self.copy), (1, self.lines), (0.7, self.pairs),
            (2, self.call), (1.2, self.region),
        ]  # fmt: skip
        weights, functions = zip(*kinds, strict=True)
        self.rng.choices(functions, weights)[0]()
