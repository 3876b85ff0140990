"""Random C programs for redundant state detection: many paths that agree in most of what they remember.

A program is a row of steps over a few variables of small range, in memory and in registers. Steps change
variables behind branches on the input, through pointers that may lead to several of them, in loops, in
functions that may end the program or jump out, through pointers to functions, in memory that is freed, by
string functions that may fail, by operations that fail for some inputs, and in files that are written and
read back. In between, rare combinations of the variables lead to lines of their own: which of them are
reached depends on what was changed where.
"""

from __future__ import annotations

import random

HEAD = """\
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "klee/klee.h"
static unsigned char in[8];
static unsigned char v[4];
static unsigned char *p = v, *q = v + 1;
static char text[8] = "abc";
static unsigned char *cell;
static jmp_buf buffer;
static int marks, jumped;
static void mark(int n) { marks += n; }
static char *words = text;
struct pair { unsigned char a, b; };
static __attribute__((noinline)) int both(struct pair x) { return (x.a + x.b) & 3; }
static __attribute__((noinline)) void up(unsigned char *x) { *x = (*x + 1) & 3; }
static __attribute__((noinline)) void down(unsigned char *x) { *x = *x ? *x - 1 : 2; }
static __attribute__((noinline)) void done(unsigned char *x) { if (*x == 3) exit(4); v[3] = 0; }
static void (*change)(unsigned char *) = up;
"""


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.functions: list[str] = []
        self.lines: list[str] = []
        self.marks = 0
        self.indent = 1
        self.depth = 0
        self.uses_files = self.rng.random() < 0.25
        self.jumps = self.rng.random() < 0.15
        self.heap = self.rng.random() < 0.4
        self.locals = self.rng.random() < 0.5
        self.fails = self.rng.random() < 0.5
        self.indirect = self.rng.random() < 0.4
        self.handler = self.rng.random() < 0.15
        self.in_main = False
        self.last = ""

    def program(self) -> str:
        rng = self.rng
        for number in range(rng.randint(1, 3)):
            self._function(number)
        self.in_main = True
        count = rng.randint(2, 4)
        body = ["int main(void) {", '  klee_make_symbolic(in, sizeof in, "in");']
        if self.heap:
            body.append("  cell = malloc(2); cell[0] = 1; cell[1] = 0;")
        else:
            body.append("  cell = v + 2;")
        if self.locals:
            body.append("  unsigned char r = in[0] & 3, s = 1;")
        self.lines = []
        if self.handler:
            self._handler()
        for _ in range(rng.randint(4, 9)):
            self._statement(count)
        if self.jumps:
            inner, self.lines, self.jumps = self.lines, [], False
            self.line("if (setjmp(buffer) == 0) {")
            self.lines += ["  " + line for line in inner]
            self.line("} else {")
            self._goal()
            self.line("}")
            self._statement(count)
        body += self.lines
        body += ["  return marks & 1;", "}"]
        return HEAD + "\n".join(self.functions) + "\n" + self.last + "\n".join(body) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("  " * self.indent + text)

    # ---- parts ---------------------------------------------------------------------------------------

    def _place(self) -> str:
        places = ["v[0]", "v[1]", "v[2]", "v[3]", "*p", "*q", "cell[0]"]
        if self.locals and self.in_main:
            places += ["r", "s", "r", "s"]
        return self.rng.choice(places)

    def _value(self) -> str:
        rng = self.rng
        return rng.choice((str(rng.randint(0, 3)), self._place(), f"({self._place()} + 1) & 3"))

    def _input(self, count: int) -> str:
        rng = self.rng
        byte = f"in[{rng.randrange(count)}]"
        return rng.choice(
            (f"{byte} > {rng.choice((9, 64, 200))}", f"{byte} == {rng.randint(0, 9)}", f"{byte} & 1")
        )

    def _state(self) -> str:
        rng = self.rng
        one = f"{self._place()} == {rng.randint(0, 3)}"
        if rng.random() < 0.6:
            return one
        return f"{one} && {self._place()} {rng.choice(('==', '>', '!='))} {rng.randint(0, 2)}"

    def _goal(self) -> None:
        self.marks += 1
        self.line(f"  mark({self.marks});")

    def _statement(self, count: int) -> None:
        rng = self.rng
        self.depth += 1
        kinds = [self._change, self._branch, self._branch, self._branch, self._goal_behind, self._loop]
        kinds += [self._pointer, self._call, self._text, self._goal_behind, self._switch, self._change]
        if self.depth > 1:
            kinds.append(self._ending)
        if self.heap:
            kinds += [self._free, self._allocate]
        if self.uses_files:
            kinds += [self._file, self._file]
        if self.jumps:
            kinds.append(self._jump)
        if self.locals:
            kinds += [self._rounds, self._rounds]
        if self.fails:
            kinds += [self._failing, self._failing]
        if self.indirect:
            kinds += [self._indirect, self._indirect]
        rng.choice(kinds)(count)
        self.depth -= 1

    def _change(self, count: int) -> None:
        self.line(f"{self._place()} = {self._value()};")

    def _inner(self, count: int) -> None:
        self.indent += 1
        for _ in range(self.rng.randint(1, 2)):
            if self.depth > 2:
                self._change(count)
            else:
                self._statement(count)
        self.indent -= 1

    def _branch(self, count: int) -> None:
        rng = self.rng
        self.line(f"if ({self._input(count) if rng.random() < 0.7 else self._state()}) {{")
        self._inner(count)
        if rng.random() < 0.5:
            self.line("} else {")
            self._inner(count)
        self.line("}")

    def _goal_behind(self, count: int) -> None:
        self.line(f"if ({self._state()}) {{")
        self._goal()
        self.line("}")

    def _loop(self, count: int) -> None:
        name = f"i{self.depth}_{len(self.lines)}"
        rng = self.rng
        if rng.random() < 0.5:
            self.line(f"for (int {name} = 0; {name} < {rng.randint(2, 3)}; {name}++) {{")
        else:
            self.line(f"for (int {name} = 0; {name} < (in[{rng.randrange(count)}] & 3); {name}++) {{")
        self._inner(count)
        if rng.random() < 0.3:
            self.line(f"  if ({self._input(count)}) break;")
        self.line("}")

    def _rounds(self, count: int) -> None:
        """A loop that defines registers anew, with several ways out and back."""
        rng = self.rng
        name = f"i{self.depth}_{len(self.lines)}"
        limit = rng.choice((f"in[{rng.randrange(count)}] & 3", "3", "2"))
        self.line(f"for (unsigned char {name} = 0; {name} < ({limit}); {name}++) {{")
        self.line(f"  if ({self._state()}) {rng.choice(('continue', 'break'))};")
        changed, value = rng.choice("rs"), rng.choice((name, "r + s", f"s + {name}", self._place()))
        self.line(f"  {changed} = ({value}) & 3;")
        if rng.random() < 0.4:
            self.line(f"  if ({self._input(count)}) {changed} = {rng.randint(0, 3)};")
        self.line("}")

    def _failing(self, count: int) -> None:
        """An operation that fails for some inputs, or for some values of the variables."""
        rng = self.rng
        byte = f"in[{rng.randrange(count)}]"
        self.line(
            rng.choice(
                (
                    f"{self._place()} = v[{byte} & 7];",
                    f"v[{self._place()} + ({byte} & 1)] = {rng.randint(0, 3)};",
                    f"{self._place()} = (6 / {self._place()}) & 3;",
                    f"if ({self._input(count)}) words = 0;",
                    f"{self._place()} = strlen(words) & 3;",
                    f'{self._place()} = strcmp(words, "abc") == 0;',
                    f"words = text + {rng.randint(0, 2)};",
                    f"memset(v + {rng.randint(0, 3)}, {rng.randint(0, 3)}, {self._place()} & 3);",
                    f"klee_assume({byte} != {rng.randint(0, 9)});",
                    f"if ({self._input(count)}) p = 0;",
                )
            )
        )

    def _indirect(self, count: int) -> None:
        rng = self.rng
        callee = rng.choice(("up", "down", "done"))
        self.line(
            rng.choice(
                (
                    f"if ({self._input(count)}) change = {callee};",
                    f"change = {self._state()} ? {callee} : change;",
                    f"change({self._address()});",
                    f"change({self._address()});",
                    f"{self._place()} = both((struct pair){{{self._place()}, {self._value()}}});",
                )
            )
        )

    def _handler(self) -> None:
        """A function that runs at the end of the program."""
        before, self.lines, self.in_main = self.lines, [], False
        self.lines.append("static void last(void) {")
        for _ in range(self.rng.randint(1, 2)):
            self._goal_behind(0)
        self.last = "\n".join([*self.lines, "}"]) + "\n"
        self.lines, self.in_main = before, True
        self.line("atexit(last);")

    def _pointer(self, count: int) -> None:
        rng = self.rng
        name = rng.choice("pq")
        target = rng.choice((f"v + {rng.randint(0, 3)}", f"v + (in[{rng.randrange(count)}] & 3)", "p", "q"))
        self.line(f"{name} = {target};")

    def _switch(self, count: int) -> None:
        rng = self.rng
        self.line(f"switch (in[{rng.randrange(count)}] {rng.choice(('& 3', '% 5', ''))}) {{")
        for value in range(rng.choice((2, 3, 6))):
            self.line(f"case {value}:")
            self._inner(count)
            if rng.random() < 0.8:
                self.line("  break;")
        self.line("default:")
        self._inner(count)
        self.line("}")

    def _call(self, count: int) -> None:
        rng = self.rng
        number = rng.randrange(max(1, len(self.functions)))
        if not self.functions:
            self._change(count)
            return
        argument = rng.choice(("p", "q", "v + 1", "cell"))
        value = rng.choice((f"in[{rng.randrange(count)}]", self._place(), "2"))
        call = f"f{number}({argument}, {value})"
        self.line(rng.choice((f"{self._place()} = {call};", f"{call};", f"if ({call}) {self._place()} = 1;")))

    def _ending(self, count: int) -> None:
        rng = self.rng
        test = f"{self._place()} == {rng.randint(1, 3)} && {self._input(count)}"
        self.line(f"if ({test if rng.random() < 0.7 else self._input(count)}) {rng.choice(ENDINGS)}")

    def _text(self, count: int) -> None:
        rng = self.rng
        self.line(
            rng.choice(
                (
                    f"text[{rng.randint(0, 2)}] = in[{rng.randrange(count)}];",
                    f"{self._place()} = strlen(text) & 3;",
                    f'{self._place()} = strcmp(text, "abc") == 0;',
                    f"memcpy(v + {rng.randint(0, 1)}, text + {rng.randint(0, 1)}, 1);",
                    f"memset(q, {rng.randint(0, 3)}, 1);",
                    f"{self._place()} = strchr(text, in[{rng.randrange(count)}]) != 0;",
                    'puts("done");',
                )
            )
        )

    def _free(self, count: int) -> None:
        self.line(f"if ({self._input(count)}) {{ free(cell); {self.rng.choice(('', 'cell = v;'))} }}")

    def _allocate(self, count: int) -> None:
        self.line(f"if ({self._state()}) {{ cell = malloc(1); *cell = {self.rng.randint(0, 3)}; }}")

    def _file(self, count: int) -> None:
        rng = self.rng
        write = f'int d = open("f", O_CREAT | O_RDWR, 0600); if (d >= 0) {{ write(d, {self._address()}, 1);'
        if rng.random() < 0.5:
            self.line(f"{{ {write} close(d); }} }}")
        else:
            read = 'int e = open("f", O_RDONLY); if (e >= 0) {'
            self.line(f"{{ {read} {self._place()} = read(e, {self._address()}, 1) & 3; close(e); }} }}")

    def _address(self) -> str:
        return self.rng.choice(("p", "q", "v", "v + 2"))

    def _jump(self, count: int) -> None:
        self.line(
            f"if ({self._state() if self.rng.random() < 0.5 else self._input(count)}) longjmp(buffer, 1);"
        )

    def _function(self, number: int) -> None:
        rng = self.rng
        before, self.lines, indent, depth = self.lines, [], self.indent, self.depth
        self.indent, self.depth = 1, 1
        self.lines.append(f"static int f{number}(unsigned char *a, unsigned char b) {{")
        for _ in range(rng.randint(1, 3)):
            kind = rng.randrange(6 if self.jumps else 5)
            if kind == 5:
                self.line(f"if (*a == {rng.randint(1, 3)} && b < 9 && !jumped++) longjmp(buffer, 1);")
            elif kind == 0:
                self.line(f"if (b > {rng.choice((1, 50))}) *a = {rng.randint(0, 3)};")
            elif kind == 1:
                self.line(f"if (*a == {rng.randint(1, 3)} && b > 9) {rng.choice(ENDINGS)}")
            elif kind == 2:
                self.line(f"if ({self._state()}) {{")
                self._goal()
                self.line("}")
            elif kind == 3:
                self.line(f"for (int i = 0; i < (b & 1); i++) v[{rng.randint(0, 3)}]++;")
            elif number:
                self.line(f"if (b & 2) return f{rng.randrange(number)}(a, {rng.choice(('b', '*a', '1'))});")
        self.lines.append(f"  return {rng.choice(('*a', 'b & 3', '0', 'v[1]'))};\n}}")
        self.functions.append("\n".join(self.lines))
        self.lines, self.indent, self.depth = before, indent, depth


ENDINGS = ("exit(1);", "return 0;", "abort();", "exit(v[0]);", "return 2;", "_exit(3);")


def redundant_program(seed: int) -> str:
    """The program of a seed."""
    return f"/* Generated program, seed {seed}. */\n" + _Writer(seed).program()
