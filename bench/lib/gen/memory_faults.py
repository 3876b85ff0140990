"""Wrong accesses of objects that live: dead loads, constants outside, too long copies, members of structs."""

from __future__ import annotations

from bench.lib.gen.fault_scope import FaultKind, FaultStatements, Tracked
from bench.lib.gen.scope import Scope
from bench.lib.gen.types import U8, U32

STRUCTS = """\
typedef u32 __attribute__((aligned(1))) unaligned;
struct pair { u8 key[4]; u8 val[4]; u32 n; };
struct row { u16 cells[3]; u16 rest; struct pair inner[2]; u32 last; };"""


def read_outside(s: FaultStatements, scope: Scope) -> None:
    """A load at an index that a few inputs move outside; its result is mostly dead."""
    tracked = s.any_array(scope)
    if s.rng.random() < 0.3:
        tracked = s.pointer_to(tracked)
    s.unused(f"RD({tracked.element(s.outside(scope, tracked.count))})", tracked.type)


def write_outside(s: FaultStatements, scope: Scope) -> None:
    tracked = s.any_array(scope, writable=True)
    if s.rng.random() < 0.3:
        tracked = s.pointer_to(tracked)
    s.written(tracked.element(s.outside(scope, tracked.count)))


def constant_index(s: FaultStatements, scope: Scope) -> None:
    """An access at a constant place outside, in a block that few inputs reach."""
    tracked = s.any_array(scope, writable=True)
    if s.rng.random() < 0.3:
        tracked = s.pointer_to(tracked)

    def write(inner: Scope) -> None:
        element = tracked.element(str(s.constant_outside(tracked.count)))
        if s.rng.random() < 0.5:
            s.written(element)
        else:
            s.unused(f"RD({element})", tracked.type)

    s.guarded(scope, write)


def wide_access(s: FaultStatements, scope: Scope) -> None:
    """Four bytes of which only some are inside."""
    tracked = s.array(scope)
    pointer = s.source.fresh("p")
    s.source.statement(f"u8 *{pointer} = (u8 *){tracked.name};")
    if tracked.size < 4:
        return
    offset = (
        f"({s.rare(scope)} ? {tracked.size - s.rng.randrange(1, 4)} : {s.rng.randrange(tracked.size - 3)})"
    )
    s.source.statement(f"unaligned *wide_{pointer} = (unaligned *)({pointer} + {offset});")
    if s.rng.random() < 0.5:
        s.written(f"*wide_{pointer}")
    else:
        s.unused(f"RD(*wide_{pointer})", U32)


def null(s: FaultStatements, scope: Scope) -> None:
    """A null pointer on few inputs, to an element or to a struct."""
    name = s.source.fresh("p")
    if s.rng.random() < 0.5:
        tracked = s.any_array(scope, writable=True)
        s.source.statement(f"{tracked.type.name} *{name} = {s.rare(scope)} ? 0 : &{tracked.name}[0];")
        target, ctype = f"*{name}", tracked.type
    else:
        record = _pair(s, scope)
        s.source.statement(f"struct pair *{name} = &V({record});")
        s.source.open(f"if ({s.rare(scope)})")
        s.source.statement(f"{name} = 0;")
        s.source.close()
        target, ctype = s.rng.choice(((f"{name}->n", U32), (f"{name}->key[1]", U8)))
    if s.rng.random() < 0.3:
        s.written(target)
    else:
        s.unused(f"RD({target})", ctype)


def freed(s: FaultStatements, scope: Scope) -> None:
    """A read or write of a block that few inputs have freed."""
    tracked = s.heap(scope)
    s.source.open(f"if ({s.rare(scope)})")
    s.source.statement(f"RELEASE({tracked.name});")
    s.source.close()
    element = f"{tracked.name}[{s.rng.randrange(tracked.count)}]"
    choice = s.rng.random()
    if choice < 0.6:
        s.unused(f"RD({element})", tracked.type)
    elif choice < 0.8:
        s.written(element)
    else:
        s.source.statement(f"MEMSET({tracked.name}, 0, {s.rng.randrange(tracked.size + 1)});")


def wrong_free(s: FaultStatements, scope: Scope) -> None:
    """A block freed twice, or something freed that is none."""
    if s.rng.random() < 0.5:
        tracked = s.heap(scope)
        s.source.statement(f"RELEASE({tracked.name});")
        s.guarded(scope, lambda inner: s.source.statement(f"RELEASE({tracked.name});"))
        return
    tracked = s.any_array(scope)
    where = f"(u8 *){tracked.name} + 1" if not tracked.variable else f"&{tracked.name}[0]"
    s.guarded(scope, lambda inner: s.source.statement(f"RELEASE({where});"))


def too_long(s: FaultStatements, scope: Scope) -> None:
    """memset, memcpy or memmove past the end, by a constant or a length that the input decides."""
    target = s.any_array(scope, writable=True)
    if s.rng.random() < 0.5:
        length = f"({s.rare(scope)} ? {target.size + s.rng.randrange(1, 9)} : {target.size})"
        _move(s, scope, target, length, target.size + 9)
        return
    length = str(target.size + s.rng.choice((1, 2, 4, 40)))
    s.guarded(scope, lambda inner: _move(s, inner, target, length, target.size + 40))


def _move(s: FaultStatements, scope: Scope, target: Tracked, length: str, longest: int) -> None:
    choice = s.rng.random()
    if choice < 0.4:
        s.source.statement(f"MEMSET({target.name}, {s.rng.randrange(4)}, {length});")
        return
    function = s.rng.choice(("MEMCPY", "MEMMOVE"))
    name = s.source.fresh("b")
    s.source.statement(f"LOCAL_IS(u8[{longest}], {name}, 1, 2, 3);")
    if choice < 0.75:
        s.source.statement(f"{function}({target.name}, V({name}), {length});")
    else:
        s.source.statement(f"{function}(V({name}), {target.name}, {length});")


def whole_struct(s: FaultStatements, scope: Scope) -> None:
    """A struct copied from or to a pointer that few inputs make wrong."""
    record, name = _pair(s, scope), s.source.fresh("p")
    other = s.source.fresh("r")
    s.source.statement(f"LOCAL(struct pair, {other});")
    wrong = s.rng.choice(("0", f"&V({record}) + 1", f"(struct pair *)((u8 *)&V({record}) + 4)"))
    s.source.statement(f"struct pair *{name} = {s.rare(scope)} ? {wrong} : &V({record});")
    to, origin = (f"V({other})", f"*{name}") if s.rng.random() < 0.6 else (f"*{name}", f"V({other})")
    s.source.statement(f"COPY({to}, {origin});")


def past_member(s: FaultStatements, scope: Scope) -> None:
    """An index past an array in a struct: it lands in the next member, or outside of the object."""
    name = s.source.fresh("r")
    s.source.statement(f"LOCAL(struct row, {name});")
    s.source.statement(f"MEMSET(&V({name}), 0, sizeof V({name}));")
    access, count = s.rng.choice(
        (
            (f"V({name}).cells[IDX({{}}, 3)]", 3),
            (f"V({name}).inner[IDX({{}}, 2)].n", 2),
            (f"V({name}).inner[0].key[IDX({{}}, 4)]", 4),
            (f"V({name}).inner[1].val[IDX({{}}, 4)]", 4),
        )
    )

    def write(inner: Scope, index: str) -> None:
        if s.rng.random() < 0.5:
            s.written(access.format(index), "0")
        else:
            s.unused(f"RD({access.format(index)})", U32)

    if s.rng.random() < 0.4:
        constant = str(s.rng.choice((count, count + 1, -1, 60)))
        s.guarded(scope, lambda inner: write(inner, constant))
    else:
        write(scope, s.outside(scope, count))


def read_only(s: FaultStatements, scope: Scope) -> None:
    """A write to constant data."""
    constants = [t for t in s.globals if t.readonly]
    if not constants:
        return read_outside(s, scope)
    tracked = s.rng.choice(constants)
    name = s.source.fresh("p")
    s.source.statement(f"{tracked.type.name} *{name} = ({tracked.type.name} *){tracked.name};")
    s.guarded(scope, lambda inner: s.written(f"{name}[{s.rng.randrange(tracked.count)}]"))


def _pair(s: FaultStatements, scope: Scope) -> str:
    name = s.source.fresh("r")
    s.source.statement(
        f"LOCAL_IS(struct pair, {name}, {{1, 2, 3, 4}}, {{5, 6, 7, 8}}, {s.bits(scope, 255)});"
    )
    return name


KINDS: dict[FaultKind, float] = {
    read_outside: 3, write_outside: 2, constant_index: 3, wide_access: 1, null: 2, freed: 2, wrong_free: 1,
    too_long: 3, whole_struct: 1, past_member: 2, read_only: 0.5,
}  # fmt: skip
