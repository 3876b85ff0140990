"""The closing words of `anabranch unit`: a table of functions, and what was found in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.cli.summary import target_lines
from anabranch.cli.wording import count, near
from anabranch.unit.explore import RANK_TEXT, UnitError, UnitResult
from anabranch.unit.ranks import RANKS

_SHOWN = 20


def table(results: Sequence[UnitResult]) -> str:
    """A line a function: blocks reached, paths, errors by rank."""
    width = min(40, max(len(result.function) for result in results))
    lines = [f"{'function':<{width}}  {'blocks':>13}  {'paths':>7}  none  arg  size  answer  explored"]
    for result in results:
        by_rank = [sum(error.rank == rank for error in result.errors) for rank in RANKS]
        blocks = f"{result.blocks.covered}/{result.blocks.total} {result.blocks.percent:4.0f}%"
        paths = result.result.paths_total if result.result is not None else 0
        cells = "  ".join(f"{n or '-':>{w}}" for n, w in zip(by_rank, (4, 3, 4, 6), strict=True))
        name = result.function[:width]
        lines.append(f"{name:<{width}}  {blocks:>13}  {paths:>7,}  {cells}  {_explored(result)}")
    return "\n".join(lines)


def _explored(found: UnitResult) -> str:
    result = found.result
    if result is None:
        return f"no: {found.unsupported}"
    if result.complete:
        return "completely"
    if result.stopped is not None:
        return f"until {result.stopped}"
    return f"in part: {max(result.losses, key=lambda kind: result.losses[kind].count, default='')}"


def unit_summary(results: Sequence[UnitResult], directory: Path) -> str:
    """What was found, the worst first, and where it is."""
    lines = []
    if len(results) == 1:
        only = results[0]
        lines.append(
            f"{only.function}: {only.blocks.covered} of {count(only.blocks.total, 'block')} reached, "
            f"explored {_explored(only)}."
        )
    lines += [line for result in results if result.result is not None for line in target_lines(result.result)]
    lines += _assumed(results)
    errors = [(result, error) for result in results for error in result.errors]
    errors.sort(key=lambda pair: RANKS.index(pair[1].rank))
    if not errors:
        lines.append("No error found on the paths explored.")
    else:
        lines.append(f"Found {count(len(errors), 'error')}:")
    for result, error in errors[:_SHOWN]:
        lines += _error(result, error, directory)
    if len(errors) > _SHOWN:
        lines.append(f"  and {len(errors) - _SHOWN} more; see unit.json")
    written = sum(error.harness is not None for _, error in errors)
    lines.append(f"Wrote {count(written, 'harness', 'harnesses')} to {directory}.")
    return "\n".join(lines)


def _assumed(results: Sequence[UnitResult]) -> Iterator[str]:
    calls: dict[str, int] = {}
    for result in results:
        for name, told in (result.result.unknown_calls if result.result is not None else {}).items():
            calls[name] = calls.get(name, 0) + int(told["count"])
    if calls:
        ordered = sorted(calls, key=lambda name: (-calls[name], name))
        more = f" and {len(ordered) - 8} more" if len(ordered) > 8 else ""
        yield f"Assumed that unknown functions may answer anything: {', '.join(ordered[:8])}{more}."


def _error(result: UnitResult, item: UnitError, directory: Path) -> Iterator[str]:
    error = item.error
    place = f"{near(error.file)}:{error.line}"
    yield f"  {place} in {error.function or result.function}: {error.message} [{error.kind}]"
    yield f"    assumes {RANK_TEXT[item.rank]}" + (": " + ", ".join(item.assumes) if item.assumes else "")
    if item.harness is None:
        yield f"    {item.no_harness}"
        return
    said = {True: "reproduced natively", False: f"NOT reproduced natively: {item.problem}", None: "not run"}
    yield f"    {directory / result.function / item.name} ({said[item.reproduced]})"
