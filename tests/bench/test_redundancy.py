"""The figures of `bench.redundancy`."""

from bench.lib.coverage_race import Comparison, Course, Point
from bench.redundancy import listed


def course(*points: tuple[float, int, int]) -> Course:
    return Course(
        tuple(Point(*point) for point in points), 1, 1, 1, 1, 0.0, False, wanted=50, instructions=200
    )


def test_speedup_is_to_the_most_that_both_cover() -> None:
    plain = course((0.2, 10, 5), (8.0, 100, 20), (20.0, 120, 25))
    reduced = course((0.2, 10, 5), (2.0, 90, 22), (4.0, 100, 22))
    found = Comparison("cut", plain, reduced)
    assert found.common("instructions") == 100 and found.speedup("instructions") == 8 / 4
    assert found.gain("instructions") == -10
    assert found.common("lines") == 22 and found.speedup("lines") == 20 / 2
    assert found.gain("lines") == -6


def test_lines_are_listed_as_ranges() -> None:
    assert listed({7, 1, 2, 3, 9, 10}) == "1-3, 7, 9-10"
    assert listed(()) == ""
