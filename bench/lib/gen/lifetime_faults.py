"""Objects outside of their life, and bytes that were never written."""

from __future__ import annotations

from bench.lib.gen.fault_scope import ELEMENTS, FaultKind, FaultStatements, Tracked
from bench.lib.gen.scope import Scope
from bench.lib.gen.types import U8, U16, U32, CType


def _access(s: FaultStatements, target: str, ctype: CType) -> None:
    """A read or a write, mostly without effect."""
    if s.rng.random() < 0.3:
        s.written(target)
    else:
        s.unused(f"RD({target})", ctype)


def after_block(s: FaultStatements, scope: Scope) -> None:
    """A pointer to a variable of a block, used when the block is left."""
    outer, pointer, inner = s.array(scope), s.source.fresh("p"), s.source.fresh("t")
    ctype = outer.type
    s.source.statement(f"{ctype.name} *{pointer} = &{outer.name}[0];")
    s.source.raw("{")
    s.source.indent += 1
    if s.rng.random() < 0.5:
        s.source.statement(f"LOCAL_IS({ctype.name}, {inner}, 3);")
        target = f"&V({inner})"
    else:
        s.source.statement(f"LOCAL_IS({ctype.name}[3], {inner}, 3, 4, 5);")
        target = f"&V({inner})[{s.rng.randrange(3)}]"
    s.source.open(f"if ({s.rare(scope)})")
    s.source.statement(f"{pointer} = {target};")
    s.source.close()
    if s.rng.random() < 0.5:
        _access(s, f"*{pointer}", ctype)
    s.source.close()
    _access(s, f"*{pointer}", ctype)


def after_loop(s: FaultStatements, scope: Scope) -> None:
    """A pointer to a variable of a loop's body, used behind the loop."""
    outer, pointer = s.array(scope), s.source.fresh("p")
    inner, counter = s.source.fresh("t"), s.source.fresh("k")
    ctype = outer.type
    s.source.statement(f"{ctype.name} *{pointer} = &{outer.name}[0];")
    s.source.open(f"for (u32 {counter} = 0; {counter} < 3u; {counter}++)")
    s.source.statement(f"LOCAL_IS({ctype.name}, {inner}, ({ctype.name}){counter});")
    s.source.open(f"if ({s.bits(scope, 15)} == {counter})")
    s.source.statement(f"{pointer} = &V({inner});")
    if s.rng.random() < 0.5:
        s.source.statement("break;")
    s.source.close()
    s.source.close()
    _access(s, f"*{pointer}", ctype)


def after_return(s: FaultStatements, scope: Scope) -> None:
    """The address of a local that a function gave away."""
    if not s.writers:
        return after_block(s, scope)
    function, tracked = s.rng.choice(s.writers)
    pointer = s.source.fresh("p")
    fallback = s.source.fresh("a")
    s.source.statement(f"LOCAL_IS({tracked.type.name}[{tracked.count}], {fallback}, 1);")
    s.source.statement(f"{tracked.type.name} *{pointer} = {function}({s.bits(scope, 255)}, V({fallback}));")
    _access(s, f"{pointer}[{s.rng.randrange(tracked.count)}]", tracked.type)


def writer(s: FaultStatements, scope: Scope) -> None:
    """A function that returns its second argument, or on few inputs the address of a local of its own."""
    name, inner = s.source.fresh("give"), s.source.fresh("t")
    ctype, count = s.rng.choice(ELEMENTS), s.rng.choice((1, 2, 5))
    s.source.raw(f"static {ctype.name} *{name}(u32 x, {ctype.name} *other) {{")
    s.source.indent += 1
    s.source.statement(f"LOCAL_IS({ctype.name}[{count}], {inner}, 3);")
    s.source.statement(
        f"{ctype.name} *result = (x & 15u) == {s.rng.randrange(16)}u ? &V({inner})[0] : other;"
    )
    s.source.statement("return result;")
    s.source.close()
    s.writers.append((name, Tracked(name, ctype, count, variable=False)))


def _decide(s: FaultStatements, lvalue: str) -> None:
    """A branch that a value decides."""
    if s.rng.random() < 0.7:
        operator, number = s.rng.choice(("==", ">", "<", "!=")), s.rng.randrange(1, 100)
        s.source.open(f"if (USE({lvalue}) {operator} {number})")
        s.source.statement("sink += 3;")
        s.source.close()
        return
    s.source.open(f"switch (USE({lvalue}))")
    s.source.raw("case 1:")
    s.source.statement("sink += 5; break;")
    s.source.raw("default:")
    s.source.statement("sink += 7;")
    s.source.close()


def undecided(s: FaultStatements, scope: Scope) -> None:
    """A scalar that few inputs leave unwritten decides a branch, directly or by a copy."""
    ctype, name = s.rng.choice((U8, U16, U32)), s.source.fresh("t")
    s.source.statement(f"LOCAL({ctype.name}, {name});")
    s.source.open(f"if (!({s.rare(scope)}))")
    s.written(f"V({name})", str(s.rng.randrange(4)))
    s.source.close()
    if s.rng.random() < 0.4:
        copy = s.source.fresh("t")
        s.source.statement(f"LOCAL({ctype.name}, {copy});")
        s.source.statement(f"COPY(V({copy}), V({name}));")
        if s.rng.random() < 0.3:
            return  # copied, never used: no fault
        name = copy
    _decide(s, f"V({name})")


def unwritten_element(s: FaultStatements, scope: Scope) -> None:
    """An element, local or heap, of an array of which only a part was written."""
    rng = s.rng
    ctype, count = rng.choice((U8, U16, U32)), rng.choice((3, 4, 6))
    name = s.source.fresh("a")
    if rng.random() < 0.5:
        s.source.statement(f"LOCAL({ctype.name}[{count}], {name});")
        array = f"V({name})"
    else:
        s.source.statement(f"{ctype.name} *{name} = HEAP({count} * sizeof *{name});")
        array = name
    written = rng.randrange(1, count)
    s.source.statement(f"MEMSET({array}, 1, {written} * sizeof({ctype.name}));")
    index = f"({s.rare(scope)} ? {rng.randrange(count)} : {rng.randrange(written)})"
    if rng.random() < 0.3:
        # read, never used: no fault
        return s.source.statement(f"{ctype.name} {s.source.fresh('unused')} = RD({array}[{index}]);")
    _decide(s, f"{array}[{index}]")


def fresh_in_each_iteration(s: FaultStatements, scope: Scope) -> None:
    """A variable of a loop's body that only one iteration writes: the next one finds it unwritten again."""
    rng = s.rng
    counter, name = s.source.fresh("k"), s.source.fresh("t")
    ctype = rng.choice((U8, U32))
    last = rng.randrange(1, 4)
    s.source.open(f"for (u32 {counter} = 0; {counter} < {last + 1}u; {counter}++)")
    if rng.random() < 0.7:
        s.source.statement(f"LOCAL({ctype.name}, {name});")
        element = f"V({name})"
    else:
        s.source.statement(f"LOCAL({ctype.name}[2], {name});")
        element = f"V({name})[{rng.randrange(2)}]"
    s.source.open(f"if ({counter} == 0 || {s.bits(scope, 31)} != {rng.randrange(32)}u)")
    s.written(element, str(rng.randrange(4)))
    s.source.close()
    _decide(s, element)
    s.source.close()


def unwritten_pointer(s: FaultStatements, scope: Scope) -> None:
    """A pointer that few inputs leave unwritten is followed."""
    tracked, name = s.array(scope), s.source.fresh("p")
    s.source.statement(f"LOCAL({tracked.type.name} *, {name});")
    s.source.open(f"if (!({s.rare(scope)}))")
    s.written(f"V({name})", f"&{tracked.name}[0]")
    s.source.close()
    _access(s, f"*USE(V({name}))", tracked.type)


def unwritten_member(s: FaultStatements, scope: Scope) -> None:
    """A member that was not written, in a struct that was copied whole."""
    name, copy = s.source.fresh("r"), s.source.fresh("r")
    s.source.statement(f"LOCAL(struct pair, {name});")
    s.source.statement(f"LOCAL(struct pair, {copy});")
    s.source.statement(f"MEMSET(V({name}).key, 2, 4);")
    s.source.open(f"if (!({s.rare(scope)}))")
    s.written(f"V({name}).n", "4")
    s.source.close()
    s.source.statement(f"COPY(V({copy}), V({name}));")
    _decide(s, f"V({copy}).{s.rng.choice(('n', 'n', 'key[1]'))}")


KINDS: dict[FaultKind, float] = {
    after_block: 3, after_loop: 1.5, after_return: 2, undecided: 2, unwritten_element: 2,
    fresh_in_each_iteration: 2, unwritten_pointer: 1, unwritten_member: 1,
}  # fmt: skip
