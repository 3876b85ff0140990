"""The text of `.err` files, and the names of their kinds."""

from __future__ import annotations

from anabranch.report.errors import ErrorRecord, StackEntry, error_json, error_text
from bench.lib.run_directory import parse_error_text

RECORD = ErrorRecord(
    kind="out-of-bounds",
    message="memory error: out of bound pointer",
    file="/src/x.c",
    line=12,
    column=7,
    function="main",
    stack=(
        StackEntry("get", "/src/x.c", 12, (("p", "2199023255552"), ("i", "symbolic")), 34),
        StackEntry("main", "/src/x.c", 20, (("argc", "1"), ("argv", "symbolic")), 340),
    ),
    info=("address: 2199023255556", "object: global of 4 bytes"),
    test=3,
    assembly_line=34,
    state=7,
)


def test_layout() -> None:
    assert error_text(RECORD) == (
        "Error: memory error: out of bound pointer\n"
        "File: /src/x.c\n"
        "Line: 12\n"
        "assembly.ll line: 34\n"
        "State: 7\n"
        "Stack: \n"
        "\t#000000034 in get(p=2199023255552, i=symbolic) at /src/x.c:12\n"
        "\t#100000340 in main(argc=1, argv=symbolic) at /src/x.c:20\n"
        "Info: \n"
        "\tkind: out-of-bounds\n"
        "\taddress: 2199023255556\n"
        "\tobject: global of 4 bytes\n"
    )


def test_text_is_read_back() -> None:
    fields = parse_error_text(error_text(RECORD))
    assert fields["Error"] == RECORD.message
    assert (fields["File"], fields["Line"], fields["State"]) == ("/src/x.c", "12", "7")
    assert fields["Info"].splitlines()[1:] == list(RECORD.info)
    assert fields["Stack"].count("\n") == 1


def test_an_error_without_a_place() -> None:
    text = error_text(ErrorRecord("abort", "abort failure"))
    assert "File:" not in text
    assert text.startswith("Error: abort failure\nassembly.ll line: 0\n")


def test_suffixes() -> None:
    assert ErrorRecord("invalid-pointer", "m").file_suffix == "ptr"
    assert ErrorRecord("of my own", "m").file_suffix == "of_my_own"
    assert ErrorRecord("report-error", "m", suffix="mine.err").file_suffix == "mine"
    assert ErrorRecord("report-error", "m", suffix="../../x").file_suffix == "x"


def test_json_has_the_stable_keys() -> None:
    entry = error_json(RECORD)
    assert {"kind", "file", "line", "function", "message", "test"} <= entry.keys()
    assert entry["stack"][0]["arguments"] == {"p": "2199023255552", "i": "symbolic"}
