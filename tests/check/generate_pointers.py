"""Random C programs with pointers, small enough to be explored to the end.

NULL flows through results, out-parameters, members and arrays; blocks are freed here and in callees; indices
go beyond arrays; variables are written on some ways only. The lines that fail are what exploration finds.
Pointers of one function lead to distinct objects, as in `generate`.
"""

from __future__ import annotations

import random

HEAD = """#include <klee/klee.h>
#include <stdlib.h>
struct box { unsigned value; struct box *link; };
static struct box boxes[3];
static struct box *slots[4];
static unsigned table[4] = {1, 2, 4, 8};
"""


class Program:
    """One program; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 0
        self.fresh = 0

    def text(self) -> str:
        self.pick()
        self.give()
        self.look()
        self.drop()
        self.main()
        return HEAD + "\n".join(self.lines) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    # -- functions --------------------------------------------------------------------------------------

    def pick(self) -> None:
        """A result that may be NULL."""
        self.line("static struct box *pick(unsigned x) {")
        self.line(f"    if ({self.condition('x')}) return {self.random.choice(('0', '&boxes[1]'))};")
        self.line(f"    if ({self.condition('x')}) return slots[x & 3];")
        self.line(f"    return {self.random.choice(('0', '&boxes[2]', '&boxes[0]'))};")
        self.line("}")

    def give(self) -> None:
        """An out-parameter that is written on some ways."""
        self.line("static unsigned give(unsigned x, struct box **out) {")
        self.line(f"    if ({self.condition('x')}) *out = {self.random.choice(('0', '&boxes[0]'))};")
        self.line(f"    else if ({self.condition('x')}) *out = pick(x + 1);")
        self.line("    return x ^ 1;")
        self.line("}")

    def look(self) -> None:
        """A dereference of what the caller passes, on some ways."""
        self.line("static unsigned look(unsigned x, const struct box *b) {")
        if self.random.random() < 0.5:
            self.line("    if (!b) return 7;")
        self.line(f"    if ({self.condition('x')}) return b->value;")
        self.line("    return x;")
        self.line("}")

    def drop(self) -> None:
        self.line("static void drop(unsigned x, struct box *b) {")
        self.line(f"    if ({self.condition('x')}) free(b);")
        self.line("}")

    def main(self) -> None:
        self.line("int main(void) {")
        self.depth = 1
        for text in (
            "unsigned char i0, i1;",
            'klee_make_symbolic(&i0, 1, "i0");',
            'klee_make_symbolic(&i1, 1, "i1");',
            "unsigned x = i0, y = i1, u;",
            f"struct box *p = {self.random.choice(('0', '&boxes[0]'))}, *q = &boxes[1];",
            "struct box *h = malloc(sizeof *h);",
            "h->value = 5; h->link = 0;",
            "struct box s = {2, 0};",
        ):
            self.line(text)
        if self.random.random() < 0.5:
            self.line("u = x;")
        self.block(self.random.randint(4, 8))
        self.line("return 0;")
        self.depth = 0
        self.line("}")

    # -- statements -------------------------------------------------------------------------------------

    def block(self, length: int) -> None:
        for _ in range(length):
            self.statement()

    def statement(self) -> None:
        choice = self.random.random()
        if choice < 0.2 and self.depth < 4:
            self.line(f"if ({self.condition(self.number())}) {{")
            self.depth += 1
            self.block(self.random.randint(1, 2))
            self.depth -= 1
            self.line("}")
            return
        pointer = self.random.choice(("p", "q"))
        self.line(
            self.random.choice(
                (
                    f"{pointer} = pick({self.number()});",
                    f"{self.number()} = give({self.number()}, &{pointer});",
                    f"slots[{self.number()} & 3] = {self.random.choice(('p', 'q', '0'))};",
                    f"{pointer} = slots[{self.number()} & 3];",
                    f"s.link = {self.random.choice(('p', 'q', '0', '&boxes[2]'))};",
                    f"{pointer} = s.link;",
                    f"if ({pointer}) {pointer}->value = {self.number()};",
                    f"{self.number()} = {pointer}->value;",
                    f"{self.number()} = {pointer}->value;",
                    f"{self.number()} = look({self.number()}, {pointer});",
                    f"{self.number()} = look({self.number()}, h);",
                    f"if ({pointer} == q) {pointer} = 0;",
                    f"drop({self.number()}, h);",
                    "if (x & 1) free(h);",
                    f"{self.number()} = h->value;",
                    f"{self.number()} = table[{self.number()} & {self.random.choice((3, 7))}];",
                    f"table[({self.number()} & 3) + {self.random.choice((0, 1))}] = {self.number()};",
                    f"if ({self.condition(self.number())}) u = 3;",
                    "if (u & 1) y++;",
                    f"{self.number()} = {self.number()} + {self.random.choice((1, 2, 5))};",
                )
            )
        )

    def number(self) -> str:
        return self.random.choice(("x", "y"))

    def condition(self, number: str) -> str:
        mask = self.random.choice((1, 3, 4))
        return f"({number} & {mask}) {self.random.choice(('==', '!='))} {self.random.randint(0, mask)}"


def program(seed: int) -> str:
    return Program(seed).text()
