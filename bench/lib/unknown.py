"""Random small C programs that call functions nobody knows: devices that fail, answer, and hand out memory.

Functions call one another, change what their pointers and globals reach, allocate and free, check and return
early; what they learn from unknown functions decides which way they go. Pointers may be null, lead to
globals, to the heap or to what an unknown function hands out. Assertions, divisions, indices and pointers may
be wrong, so that there is something to lose.
"""

from __future__ import annotations

import random

HEAD = """\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);
_Bool __VERIFIER_nondet_bool(void);
struct node { int key; unsigned char tag; struct node *next; };
struct node *find_node(int key);
int *find_slot(void);
int probe(int code);
static int g0, g1 = 3;
static unsigned char table[4] = { 1, 2, 3, 4 };
static struct node *head, *spare;
static int cells[3] = { 5, 6, 7 }, *slot;
"""
MOST_DEPTH = 2


class Unknown:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 1
        self.names = 0
        self.functions: list[tuple[str, int]] = []  # name and kind of those that can be called
        self.forks = 0
        self.pointers = self.rng.random() < 0.6

    def program(self) -> str:
        rng = self.rng
        self.lines = [HEAD]
        for number in range(rng.randrange(2, 5)):
            self.function(f"f{number}", rng.randrange(3))
        self.lines.append("int main(void) {")
        self.forks = 3
        scope = ["g0", "g1"]
        for _ in range(rng.randrange(2, 4)):
            self.call(scope)
        self.block(scope, rng.randrange(2, 5), 0, False)
        self.check(scope)
        self.put("return 0;")
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"

    def put(self, text: str) -> None:
        self.lines.append("  " * self.indent + text)

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def function(self, name: str, kind: int) -> None:
        """Kinds: (int), (int, int *), (struct node *, int)."""
        head = (f"int {name}(int a)", f"int {name}(int a, int *p)", f"int {name}(struct node *d, int a)")[
            kind
        ]
        self.lines.append(f"static {head} {{")
        self.forks = self.rng.randrange(2, 5)
        scope = ["a", "g0", "g1"]
        if kind == 1:
            scope.append("*p")
        if kind == 2:
            scope += ["d->key", "d->tag"]
        self.block(scope, self.rng.randrange(3, 7), 0, True)
        self.put(f"return {self.expression(scope)};")
        self.lines.append("}")
        self.functions.append((name, kind))

    # ---- expressions ---------------------------------------------------------------------------------

    def expression(self, scope: list[str], depth: int = 2) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.35:
            return rng.choice([*scope, *scope, str(rng.randrange(-2, 9))])
        left, right = self.expression(scope, depth - 1), self.expression(scope, depth - 1)
        kind = rng.randrange(8)
        if kind < 4:
            return f"(int)((unsigned)({left}) {rng.choice('+-*^&|')} (unsigned)({right}))"
        if kind == 4:
            return f"(({left}) {rng.choice(('<', '==', '>='))} ({right}))"
        if kind == 5:
            return f"table[({left}) & 3]"
        if kind == 6:
            return f"({left} ? {right} : {rng.randrange(5)})"
        return f"(({left}) & {rng.choice((1, 3, 7, 255))})"

    def condition(self, scope: list[str]) -> str:
        """Asks an unknown function as long as forks are left to spend."""
        rng = self.rng
        if self.forks > 0 and rng.random() < 0.7:
            self.forks -= 1
            unknown = rng.randrange(5 if self.pointers else 4)
            if unknown == 0:
                return "__VERIFIER_nondet_bool()"
            if unknown == 1:
                return f"__VERIFIER_nondet_uchar() < {rng.choice((5, 200))}"
            if unknown == 2:
                return f"__VERIFIER_nondet_int() == {rng.choice(scope)}"
            if unknown == 4:
                return f"probe({rng.choice(scope)}) > {rng.randrange(3)}"
            return f"{rng.choice(scope)} {rng.choice(('<', '>', '==', '!='))} {rng.randrange(-1, 6)}"
        return f"({self.expression(scope)}) {rng.choice(('<', '>', '==', '!='))} {rng.randrange(-1, 6)}"

    # ---- statements ----------------------------------------------------------------------------------

    def block(self, scope: list[str], count: int, depth: int, returns: bool) -> None:
        scope = list(scope)
        for _ in range(count):
            self.statement(scope, depth, returns)

    def statement(self, scope: list[str], depth: int, returns: bool) -> None:
        rng = self.rng
        choices = ["learn", "learn", "assign", "assign", "call", "heap", "table", "tell", "wrong"]
        if self.pointers:
            choices += ["pointer", "pointer", "found", "pointed"]
        if depth < MOST_DEPTH:
            choices += ["branch", "branch", "branch", "loop", "switch"]
        if returns and depth:
            choices.append("leave")
        getattr(self, rng.choice(choices))(scope, depth, returns)

    def learn(self, scope: list[str], depth: int, returns: bool) -> None:
        name = self.fresh("x")
        kind = self.rng.choice(("int", "int", "uchar"))
        self.put(f"int {name} = __VERIFIER_nondet_{kind}();")
        scope.append(name)

    def assign(self, scope: list[str], depth: int, returns: bool) -> None:
        if self.rng.random() < 0.3:
            name = self.fresh("x")
            self.put(f"int {name} = {self.expression(scope)};")
            scope.append(name)
        else:
            self.put(f"{self.rng.choice(scope)} = {self.expression(scope)};")

    def call(self, scope: list[str], depth: int = 0, returns: bool = False) -> None:
        if not self.functions:
            return self.learn(scope, depth, returns)
        function, kind = self.rng.choice(self.functions)
        name = self.fresh("r")
        argument = self.expression(scope, 1)
        if kind == 0:
            self.put(f"int {name} = {function}({argument});")
        elif kind == 1:
            place = self.fresh("v")
            self.put(f"int {place} = {self.rng.randrange(4)}, {name} = {function}({argument}, &{place});")
            scope.append(place)
        else:
            place = self.fresh("n")
            self.put(f"struct node {place} = {{ {self.expression(scope, 1)}, 2, head }};")
            self.put(f"int {name} = {function}(&{place}, {argument});")
            scope.append(f"{place}.key")
        scope.append(name)
        return None

    def heap(self, scope: list[str], depth: int, returns: bool) -> None:
        rng = self.rng
        kind = rng.randrange(4)
        if kind < 2:
            name = self.fresh("m")
            self.put(f"struct node *{name} = malloc(sizeof *{name});")
            self.put(f"if (!{name}) exit(9);")
            self.put(f"{name}->key = {self.expression(scope, 1)};")
            self.put(f"{name}->tag = __VERIFIER_nondet_uchar();")
            self.put(f"{name}->next = {rng.choice(('head', '0', 'head'))};")
            if kind == 0:
                self.put(f"head = {name};")
            else:
                self.put(rng.choice((f"free({name});", f"g1 = {name}->key;", "")))
        elif kind == 2:
            self.put(f"if (head) {rng.choice(scope)} = head->{rng.choice(('key', 'tag'))};")
        else:
            old = self.fresh("o")
            self.put(f"if (head) {{ struct node *{old} = head; head = head->next; free({old}); }}")

    def pointer(self, scope: list[str], depth: int, returns: bool) -> None:
        """Let a pointer lead somewhere else on some paths: null, a global, the heap, an unknown object."""
        rng = self.rng
        if rng.random() < 0.5:
            target = rng.choice(("0", "cells", "cells + 1", "find_slot()", "&g0"))
            self.put(f"if ({self.condition(scope)}) slot = {target};")
        else:
            target = rng.choice(("0", "head", f"find_node({rng.choice(scope)})", "malloc(sizeof *spare)"))
            self.put(f"if ({self.condition(scope)}) spare = {target};")

    def found(self, scope: list[str], depth: int, returns: bool) -> None:
        """An object that an unknown function hands out, null included."""
        name = self.fresh("u")
        self.put(f"struct node *{name} = find_node({self.rng.choice(scope)});")
        tested = f"if ({name}) " if self.rng.random() < 0.7 else ""
        self.put(f"{tested}{self.rng.choice(scope)} = {name}->{self.rng.choice(('key', 'tag'))};")

    def pointed(self, scope: list[str], depth: int, returns: bool) -> None:
        """Through a pointer, mostly after a test; now and then released."""
        rng = self.rng
        kind = rng.randrange(5)
        tested = "if (slot) " if rng.random() < 0.8 else ""
        if kind == 0:
            self.put(f"{tested}{rng.choice(scope)} = *slot;")
        elif kind == 1:
            self.put(f"{tested}{rng.choice(scope)} = slot[({rng.choice(scope)}) & 1];")
        elif kind == 2:
            self.put(f"{tested}*slot = {self.expression(scope, 1)};")
        elif kind == 3:
            tested = "if (spare) " if rng.random() < 0.8 else ""
            self.put(f"{tested}spare->key = {self.expression(scope, 1)};")
        else:
            self.put(f"if (spare && spare != head && {self.condition(scope)}) {{ free(spare); spare = 0; }}")

    def table(self, scope: list[str], depth: int, returns: bool) -> None:
        index = f"({self.expression(scope, 1)}) & {self.rng.choice((1, 3))}"
        self.put(f"table[{index}] = {self.expression(scope, 1)};")

    def tell(self, scope: list[str], depth: int, returns: bool) -> None:
        self.put(f'puts("{self.rng.choice(("up", "down", "lost"))}");')

    def wrong(self, scope: list[str], depth: int, returns: bool) -> None:
        """What may fail, on few paths."""
        rng = self.rng
        value = rng.choice(scope)
        kind = rng.randrange(5)
        if kind == 0:
            self.put(
                f"if ({value} == {rng.randrange(5)} && {rng.choice(scope)} == 2) g0 = 7 / ({value} - 2);"
            )
        elif kind == 1:
            self.check(scope)
        elif kind == 2:
            self.put(f"if ({value} > 1 && {value} < 6) table[{value} & 3] = 9; else g1 = table[{value} & 1];")
        elif kind == 3:
            self.put(f"if ({value} == {rng.randrange(3)}) {{ int *q = 0; if (g1 == 5) *q = 1; }}")
        else:
            self.put(f"if ({value} == 4) table[g0] = 1;")

    def check(self, scope: list[str], depth: int = 0, returns: bool = False) -> None:
        one, other = self.rng.choice(scope), self.rng.choice(scope)
        self.put(f"assert({one} != {self.rng.randrange(9)} || {other} {self.rng.choice(('<', '!='))} 3);")

    def branch(self, scope: list[str], depth: int, returns: bool) -> None:
        self.put(f"if ({self.condition(scope)}) {{")
        self._inner(scope, depth, returns)
        if self.rng.random() < 0.6:
            self.put("} else {")
            self._inner(scope, depth, returns)
        self.put("}")

    def loop(self, scope: list[str], depth: int, returns: bool) -> None:
        name = self.fresh("i")
        self.put(f"for (int {name} = 0; {name} < {self.rng.randrange(1, 4)}; {name}++) {{")
        if self.forks > 0 and self.rng.random() < 0.7:
            self.forks -= 1
            self.indent += 1
            self.put("if (!__VERIFIER_nondet_bool()) break;")
            self.indent -= 1
        self._inner(scope, MOST_DEPTH, returns)
        self.put("}")

    def switch(self, scope: list[str], depth: int, returns: bool) -> None:
        self.forks -= 1
        self.put(f"switch ({self.rng.choice(('__VERIFIER_nondet_uchar()', self.rng.choice(scope)))}) {{")
        for value in self.rng.sample(range(6), 2):
            self.put(f"case {value}: {{")
            self._inner(scope, MOST_DEPTH, returns)
            self.put("  break;")
            self.put("}")
        self.put("default: ;")
        self.put("}")

    def leave(self, scope: list[str], depth: int, returns: bool) -> None:
        self.put(f"return {self.expression(scope, 1)};")

    def _inner(self, scope: list[str], depth: int, returns: bool) -> None:
        self.indent += 1
        self.block(scope, self.rng.randrange(1, 3), depth + 1, returns)
        self.indent -= 1


def unknown_program(seed: int) -> str:
    """The program of a seed."""
    return Unknown(seed).program()
