"""C types from debug information: kinds, sizes, members, spelling."""

from __future__ import annotations

import pytest

from anabranch.frontend import FrontendOptions, load_program
from anabranch.ir.source_types import CType, SourceTypes

SOURCE = """
struct node { struct node *next; char name[6]; unsigned low : 3, high : 5; union { int i; char *p; } u; };
typedef struct node node_t; typedef int (*callback)(const char *, node_t *, ...); struct opaque;
typedef struct { long a; } unnamed; enum colour { RED };
node_t *f(const node_t *n, callback c, struct opaque *o, unsigned char b[4], double d, _Bool t,
          enum colour e, unnamed *u, int (*grid)[3], char *const *names) { return n->next; }
int table[2][3]; extern node_t other; node_t *use(void) { return &other; }
int get(void) { return table[1][1]; }
"""


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> tuple[CType, CType]:
    path = tmp_path_factory.mktemp("types") / "types.c"
    path.write_text(SOURCE)
    module = load_program([path], FrontendOptions(entry="f")).module
    read = SourceTypes(module.debug)
    function = read.function(module.functions["f"].subprogram_id)
    variable = read.variable(module.globals["table"].variable_id)
    assert function is not None and variable is not None
    return function, variable


def test_function(types: tuple[CType, CType]) -> None:
    function, _ = types
    kinds = [
        "pointer",
        "pointer",
        "pointer",
        "pointer",
        "float",
        "int",
        "int",
        "pointer",
        "pointer",
        "pointer",
    ]
    assert [parameter.kind for parameter in function.parameters] == kinds
    assert function.target.kind == "pointer" and function.target.target.name == "node_t"
    n, c, o, b, d, t, e, u, grid, names = function.parameters
    assert n.target.const and not n.const and names.target.const
    assert c.target.kind == "function" and len(c.target.parameters) == 2
    assert o.target.kind == "opaque" and o.target.size == 0
    assert (b.target.size, d.size, t.name, e.size) == (1, 8, "_Bool", 4)
    assert u.target.kind == "struct" and u.target.name == "unnamed"
    assert grid.target.kind == "array" and grid.target.count == 3


def test_struct(types: tuple[CType, CType]) -> None:
    node = types[0].parameters[0].target
    assert node.kind == "struct" and node.size == 24
    members = {member.name: member for member in node.members}
    assert list(members) == ["next", "name", "low", "high", "u"]
    assert members["next"].type.target.members[0].name == "next"
    assert (members["name"].offset, members["name"].type.count) == (8, 6)
    assert (members["high"].bits, members["u"].offset, members["u"].type.kind) == (5, 16, "union")
    assert node.with_pointers() and not members["name"].type.with_pointers()


def test_arrays_of_arrays(types: tuple[CType, CType]) -> None:
    table = types[1]
    assert (table.kind, table.size) == ("array", 24)


def test_declarations_are_spelled_as_c(types: tuple[CType, CType]) -> None:
    spelled = [parameter.spell("x") for parameter in types[0].parameters]
    assert spelled == [
        "const node_t *x",
        "callback x",
        "struct opaque *x",
        "unsigned char *x",
        "double x",
        "_Bool x",
        "enum colour x",
        "unnamed *x",
        "int (*x)[3]",
        "char *const *x",
    ]


def test_odd_numbers_are_void(types: tuple[CType, CType]) -> None:
    from anabranch.ir.debug import DebugInfo

    read = SourceTypes(DebugInfo("!0 = !DIDerivedType(tag: DW_TAG_typedef, baseType: !0)\n!1 = junk\n"))
    assert read.read("0").kind == read.read("1").kind == read.read("77").kind == "void"
    assert read.function("1") is None and read.variable("0") is None
