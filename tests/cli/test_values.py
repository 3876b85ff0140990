"""Values as users write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.cli.wording import clock, count, short
from anabranch.values import at_least, one_of, parse_define, parse_memory, parse_name, parse_time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10", 10.0), ("3.5", 3.5), ("1h10min", 4200.0), ("60s", 60.0), ("500ms", 0.5), ("2min30s", 150.0),
        ("250us", 250e-6), ("10ns", 1e-8), ("1.5h", 5400.0), ("1h1min1s1ms", 3661.001), (" 7s ", 7.0),
    ],
)  # fmt: skip
def test_times(text: str, seconds: float) -> None:
    assert parse_time(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "-1",
        "0",
        "0s",
        "10 s",
        "10m",
        "1s1h",
        "1s1s",
        "1h10",
        "10sec",
        "\u0661",
        "1e3",
        "inf",
        "nan",
        "h",
        ".",
    ],
)
def test_wrong_times(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a time|more than 0"):
        parse_time(text)


@given(st.integers(0, 99), st.integers(0, 59), st.integers(1, 59), st.integers(0, 999))
def test_times_add_up(hours: int, minutes: int, seconds: int, milli: int) -> None:
    expected = hours * 3600 + minutes * 60 + seconds + milli / 1000
    assert parse_time(f"{hours}h{minutes}min{seconds}s{milli}ms") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "megabytes"),
    [
        ("2000", 2000),
        ("2GB", 2048),
        ("512MB", 512),
        ("1.5g", 1536),
        ("2GiB", 2048),
        ("4096 kB", 4),
        ("1T", 1 << 20),
    ],
)
def test_memory(text: str, megabytes: int) -> None:
    assert parse_memory(text) == megabytes


@pytest.mark.parametrize("text", ["", "x", "-5", "0", "3B", "12XB", "1kB", "GB"])
def test_wrong_memory(text: str) -> None:
    with pytest.raises(ValueError, match=r"amount of memory|at least 1 MB"):
        parse_memory(text)


def test_whole_numbers() -> None:
    assert at_least(0)("0") == 0
    assert at_least(1)("1_000,000") == 1_000_000
    for text in ("-1", "0", "1.5", "x", "", "9" * 40, str(1 << 63), "\u0661"):
        with pytest.raises(ValueError, match="whole number"):
            at_least(1)(text)


def test_names() -> None:
    assert one_of("dfs", "bfs")("bfs") == "bfs"
    with pytest.raises(ValueError, match=r"did you mean dfs\?; choose from dfs, bfs"):
        one_of("dfs", "bfs")("dsf")
    assert parse_define("A(x)=x+1") == "A(x)=x+1"
    for text in ("", "1A", "=3", "A-B=1"):
        with pytest.raises(ValueError, match="not a definition"):
            parse_define(text)
    with pytest.raises(ValueError, match="name of a function"):
        parse_name("a b")


def test_wording() -> None:
    assert [count(1, "path"), count(12345, "path"), count(2, "branch", "branches")] == [
        "1 path", "12,345 paths", "2 branches",
    ]  # fmt: skip
    assert [short(950), short(12_345), short(4_100_000)] == ["950", "12.3k", "4.1M"]
    assert [clock(0.84), clock(45.9), clock(185), clock(3723)] == ["0.8 s", "45 s", "3:05 min", "1:02:03 h"]
