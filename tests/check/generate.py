"""Random C programs with assertions, small enough to be explored to the end.

Arithmetic is unsigned, indices are masked and every variable is written before it is read, so that the
only errors are failing assertions. Pointers lead to distinct objects: the checker assumes that, and counts
where it does.
"""

from __future__ import annotations

import random

OPERATORS = ("+", "-", "*", "&", "|", "^")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Program:
    """One program; the same for the same seed."""

    def __init__(self, seed: int, loops: bool, limits: bool) -> None:
        self.random = random.Random(seed)
        self.loops = loops
        self.limits = limits
        """Loops have an unknown number of iterations."""
        self.functions: list[tuple[str, bool]] = []
        self.lines: list[str] = []
        self.depth = 0
        self.in_main = False
        self.fresh = 0

    def text(self) -> str:
        self.lines = [
            "#include <assert.h>",
            "#include <klee/klee.h>",
            "static unsigned g0, g1 = 3, table[4] = {1, 2, 4, 8};",
            "struct pair { unsigned a, b; unsigned char c[4]; };",
        ]
        for number in range(self.random.randint(1, 3)):
            self.function(f"f{number}", pointer=self.random.random() < 0.5)
        self.main()
        return "\n".join(self.lines) + "\n"

    # -- functions --------------------------------------------------------------------------------------

    def function(self, name: str, pointer: bool) -> None:
        if pointer:
            # Through a pointer or to globals, not both: that would rest on the absence of aliases.
            self.lines.append(f"static unsigned {name}(unsigned x, struct pair *p) {{")
            self.places = ["x", "y", "p->a", "p->b", "p->c[x & 3]"]
        else:
            self.lines.append(f"static unsigned {name}(unsigned x) {{")
            self.places = ["x", "y", "g0", "g1", "table[y & 3]"]
        self.values = list(self.places)
        self.inside_pointer = pointer
        self.line("unsigned y = x + 1;")
        self.block(self.random.randint(2, 4))
        self.line(f"return {self.expression(2)};")
        self.lines.append("}")
        self.functions.append((name, pointer))

    def main(self) -> None:
        self.in_main = True
        self.lines.append("int main(void) {")
        self.line("unsigned char i0, i1;")
        self.line('klee_make_symbolic(&i0, 1, "i0");')
        self.line('klee_make_symbolic(&i1, 1, "i1");')
        self.line("unsigned x = i0, y = i1;")
        self.line("struct pair s = {1, 2, {3}}, t = {0};")
        self.places = ["x", "y", "g0", "s.a", "s.b", "t.a", "table[x & 3]", "s.c[y & 3]"]
        self.values = [*self.places, "i0", "i1", "g1"]
        self.inside_pointer = False
        self.block(self.random.randint(3, 6))
        self.assertion()
        self.line("return 0;")
        self.lines.append("}")

    # -- statements -------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    def block(self, length: int) -> None:
        for _ in range(length):
            self.statement()

    def statement(self) -> None:
        choice = self.random.random()
        if choice < 0.4 or self.depth > 2:
            self.line(f"{self.random.choice(self.places)} = {self.expression(2)};")
        elif choice < 0.6:
            self.call()
        elif choice < 0.8:
            self.branch()
        elif choice < 0.85 and self.loops:
            self.loop()
        elif choice < 0.88:
            self.line(f"if ({self.condition()}) return {self.expression(1)};")
        else:
            self.assertion()

    def call(self) -> None:
        usable = [f for f in self.functions if self.in_main or f[1] == self.inside_pointer]
        if not usable:
            return
        name, pointer = self.random.choice(usable)
        target = self.random.choice(("p",) if self.inside_pointer else ("&s", "&t"))
        arguments = f"{self.expression(1)}, {target}" if pointer else self.expression(1)
        self.line(f"{self.random.choice(['x', 'y'])} = {name}({arguments});")

    def branch(self) -> None:
        self.line(f"if ({self.condition()}) {{")
        self.depth += 1
        self.block(self.random.randint(1, 2))
        self.depth -= 1
        if self.random.random() < 0.6:
            self.line("} else {")
            self.depth += 1
            self.block(self.random.randint(1, 2))
            self.depth -= 1
        self.line("}")

    def loop(self) -> None:
        self.fresh += 1
        counter = f"k{self.fresh}"
        limit = str(self.random.randint(1, 3))
        if self.limits:  # the loop is not exact then
            limit = self.random.choice(("(x & 3)", "(y & 3)"))
        self.line(f"for (unsigned {counter} = 0; {counter} < {limit}; {counter}++) {{")
        self.depth += 1
        self.line(f"{self.random.choice(self.places)} = {self.expression(2)};")
        self.depth -= 1
        self.line("}")

    def assertion(self) -> None:
        self.line(f"assert({self.condition()});")

    # -- expressions ------------------------------------------------------------------------------------

    def condition(self) -> str:
        text = f"{self.expression(1)} {self.random.choice(COMPARISONS)} {self.expression(1)}"
        if self.random.random() < 0.5:
            mask = self.random.choice((1, 3, 7))
            limit = self.random.randint(0, mask)
            text = f"({self.expression(1)} & {mask}) {self.random.choice(('<=', '!=', '=='))} {limit}"
        if self.random.random() < 0.2:
            text = f"({text}) {self.random.choice(('||', '&&'))} {self.expression(1)} > 3"
        return text

    def expression(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.3:
            if self.random.random() < 0.4:
                return str(self.random.choice((0, 1, 2, 3, 5, 8, 255)))
            return self.random.choice(self.values)
        operator = self.random.choice(OPERATORS)
        return f"({self.expression(depth - 1)} {operator} {self.expression(depth - 1)})"


def program(seed: int, loops: bool = False, limits: bool = False) -> str:
    return Program(seed, loops, limits).text()
