"""A reader of the SMT-LIB scripts that hold path conditions; equal terms are one object."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


class App:
    """An application; made by a Reader only, one object a structure, so that identity is equality."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Term, ...]) -> None:
        self.parts = parts

    @property
    def head(self) -> Term:
        return self.parts[0] if self.parts else ""


# A term is a symbol or literal, or an application.
Term: TypeAlias = "str | App"

_TOKEN = re.compile(r"\s+|;[^\n]*|\(|\)|\|[^|]*\||\"[^\"]*\"|[^\s()|\";]+")


class SmtError(Exception):
    """The text is not a script this reader knows."""


@dataclass(frozen=True)
class Script:
    """Declared constants (name -> sort) and assertions; definitions are already put in their place."""

    constants: dict[str, Term]
    assertions: tuple[Term, ...]


class Reader:
    """Reads scripts into one pool of shared terms."""

    def __init__(self) -> None:
        self._pool: dict[tuple[Term, ...], App] = {}

    def app(self, *parts: Term) -> App:
        known = self._pool.get(parts)
        if known is None:
            known = self._pool[parts] = App(parts)
        return known

    def read_file(self, path: Path) -> Script:
        return self.read(path.read_text())

    def read(self, text: str) -> Script:
        constants: dict[str, Term] = {}
        definitions: dict[str, Term] = {}
        assertions: list[Term] = []
        for command in self._commands(text, definitions):
            head = command[0]
            if head == "declare-const" or (head == "declare-fun" and command[2] is self.app()):
                constants[str(command[1])] = command[-1]
            elif head == "define-fun":
                definitions[str(command[1])] = command[4]
            elif head == "assert":
                assertions.append(command[1])
            elif head not in ("set-logic", "set-info", "set-option", "check-sat", "exit", "get-model"):
                raise SmtError(f"unknown command {head}")
        return Script(constants, tuple(conjuncts(assertions)))

    def _commands(self, text: str, definitions: dict[str, Term]) -> Iterator[list[Term]]:
        """Top-level lists, with defined names replaced by what they stand for and lets resolved."""
        stack: list[list[Term]] = []
        for match in _TOKEN.finditer(text):
            token = match.group()
            if token[0].isspace() or token[0] == ";":
                continue
            if token == "(":
                stack.append([])
            elif token == ")":
                if not stack:
                    raise SmtError("unbalanced parentheses")
                done = stack.pop()
                if stack:
                    stack[-1].append(self._unlet(done) if done[:1] == ["let"] else self.app(*done))
                else:
                    yield done
            elif not stack:
                raise SmtError(f"unexpected {token}")
            elif len(stack) == 1 and len(stack[0]) == 1 and stack[0][0] != "assert":
                stack[0].append(token)  # the name that a command declares or defines
            else:
                stack[-1].append(definitions.get(token, token))
        if stack:
            raise SmtError("unbalanced parentheses")

    def _unlet(self, term: list[Term]) -> Term:
        names: dict[str, Term] = {}
        if isinstance(term[1], App):
            for binding in term[1].parts:
                if isinstance(binding, App):
                    names[str(binding.parts[0])] = binding.parts[1]
        return self.substitute(term[2], names)

    def substitute(self, term: Term, names: dict[str, Term]) -> Term:
        """Replace symbols; iterative, because terms can be deep."""
        done: dict[Term, Term] = {}
        stack: list[Term] = [term]
        while stack:
            t = stack[-1]
            if isinstance(t, str):
                done[t] = names.get(t, t)
            else:
                waiting = [p for p in t.parts if p not in done]
                if waiting:
                    stack.extend(waiting)
                    continue
                done[t] = self.app(*(done[p] for p in t.parts))
            stack.pop()
        return done[term]

    def negate(self, term: Term) -> Term:
        if isinstance(term, App) and term.head == "not":
            return term.parts[1]
        return self.app("not", term)


def conjuncts(assertions: list[Term]) -> Iterator[Term]:
    """Assertions with top-level conjunctions taken apart; true is left out."""
    stack = list(reversed(assertions))
    while stack:
        term = stack.pop()
        if isinstance(term, App) and term.head == "and":
            stack.extend(reversed(term.parts[1:]))
        elif term != "true":
            yield term


def flat(term: Term, names: dict[Term, str] | None = None) -> str:
    """The text of a term, with some applications replaced by names."""
    out: list[str] = []
    stack: list[Term] = [term]
    while stack:
        t = stack.pop()
        if names and t in names and t is not term:
            out.append(names[t])
        elif isinstance(t, str):
            out.append(t)
        else:
            out.append("(")
            stack.append(")")
            stack.extend(reversed(t.parts))
    return " ".join(out)


def to_text(roots: list[Term], constants: dict[str, Term]) -> str:
    """A script that asserts the terms together; applications used more than once are bound to names."""
    uses: Counter[App] = Counter()
    order: list[App] = []
    stack: list[tuple[Term, bool]] = [(r, False) for r in reversed(roots)]
    while stack:
        term, ready = stack.pop()
        if isinstance(term, str):
            continue
        if ready:
            order.append(term)
            continue
        uses[term] += 1
        if uses[term] == 1:
            stack.append((term, True))
            stack.extend((p, False) for p in reversed(term.parts))
    lines = [f"(declare-const {name} {flat(sort)})" for name, sort in constants.items()]
    names: dict[Term, str] = {}
    lets: list[str] = []
    for number, term in enumerate(order):
        if uses[term] > 1 and _is_value(term):
            lets.append(f"(let ((!n{number} {flat(term, names)}))")
            names[term] = f"!n{number}"
    body = " ".join(names.get(r) or flat(r, names) for r in roots)
    lines.append(f"(assert {' '.join(lets)} (and true {body}){')' * len(lets)})")
    return "\n".join(lines) + "\n"


def _is_value(term: App) -> bool:
    """Not an indexed name such as (_ extract 7 0), which cannot be bound."""
    return term.head not in ("_", "as", "")
