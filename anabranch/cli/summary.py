"""The closing words of a run: what was explored, what was found, what to do next."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anabranch.cli.wording import clock, count, ranges
from anabranch.report.errors import ErrorRecord
from anabranch.report.result import RunResult
from anabranch.report.rundir import LAST

_SHOWN = 10
_ANSWERS = 6
_ANSWER_WIDTH = 60
_STOPPED = {
    "interrupted": "stopped by Ctrl-C",
    "terminated": "stopped by a signal",
}


def summary(result: RunResult, directory: Path) -> str:
    """A few lines for someone who runs the engine for the first time."""
    lines = [_explored(result), *_losses(result), *_assumptions(result), *_coverage(result), *_errors(result)]
    lines += [*target_lines(result), *_behind_errors(result), *_checks(result)]
    lines += _next_steps(result, directory)
    return "\n".join(lines)


def _explored(result: RunResult) -> str:
    seconds = result.timers.get("total", result.timers.get("explore", result.cpu_seconds))
    ends = []
    if result.paths_exit:
        ends.append(f"{result.paths_exit:,} ended normally")
    if result.paths_error:
        ends.append(f"{result.paths_error:,} ended in an error")
    paths = count(result.paths_total, "path") + (f" ({', '.join(ends)})" if ends else "")
    if result.paths_multiplicity > result.paths_total:
        merged = "merged state" if "merging" in result.reductions else "state"
        paths = f"{paths.replace('path', merged, 1)} standing for {_behind(result)}"
    if result.complete and not result.losses:
        if result.reductions.get("zequivalence", {}).get("removed"):
            return f"Complete: explored every path or one that shows the same, {paths}, in {clock(seconds)}."
        every = "every path to its end or to an error" if result.unexplored else "every path"
        return f"Complete: explored {every}, {paths}, in {clock(seconds)}."
    reason = ""
    if result.stopped is not None:
        reason = f", {_STOPPED.get(result.stopped, f'stopped by --{result.stopped}')}"
    left = f", and left {count(result.paths_left, 'waiting state')}" if result.paths_left else ""
    return f"Not complete{reason}: explored {paths} in {clock(seconds)}{left}."


def _behind(result: RunResult) -> str:
    """The number of paths that merged states stand for."""
    if result.paths_exact is not None:
        return count(result.paths_exact, "path")
    many = result.paths_multiplicity
    return f"up to {many:,} paths" if many < 10**9 else f"up to 10^{len(str(many)) - 1} paths"


def _losses(result: RunResult) -> Iterator[str]:
    if not result.losses:
        return
    yield "Left unexplored:"
    ordered = sorted(result.losses.items(), key=lambda item: (-item[1].count, item[0]))
    for kind, loss in ordered[:_SHOWN]:
        place = max(loss.places, key=lambda name: loss.places[name], default="")
        yield f"  {loss.count:,} x {kind}" + (f", most often at {place}" if place else "")
    if len(ordered) > _SHOWN:
        yield f"  and {len(ordered) - _SHOWN} more kinds; see losses in run.json"


def _assumptions(result: RunResult) -> Iterator[str]:
    if result.fixed_answers:
        told = [f"{asked} {fixed.answer}" for asked, fixed in sorted(result.fixed_answers.items())]
        more = f"; {len(told) - _ANSWERS} more in run.json" if len(told) > _ANSWERS else ""
        yield f"Assumed: {'; '.join(text[:_ANSWER_WIDTH] for text in told[:_ANSWERS])}{more}."
    yield from _unwritten(result.uninitialised)
    if not result.unknown_calls:
        return
    yield "Assumed that these functions may answer anything:"
    ordered = sorted(result.unknown_calls.items(), key=lambda item: (-item[1]["count"], item[0]))
    for name, calls in ordered[:_SHOWN]:
        yield f"  {name}, {count(calls['count'], 'call')} at {count(len(calls['places']), 'place')}"
    if len(ordered) > _SHOWN:
        yield f"  and {len(ordered) - _SHOWN} more; see assumptions in run.json"


def _unwritten(assumed: dict[str, Any]) -> Iterator[str]:
    if assumed.get("values") == "zero":
        yield "Assumed that uninitialised memory and locals are zero."
    decided: dict[str, int] = assumed.get("decided_on", {})
    if not decided:
        return
    yield "Assumed that these may hold anything where they are uninitialised:"
    ordered = sorted(decided.items(), key=lambda item: (-item[1], item[0]))
    for name, conditions in ordered[:_SHOWN]:
        yield f"  {name}, {count(conditions, 'condition')} on it"
    if len(ordered) > _SHOWN:
        yield f"  and {len(ordered) - _SHOWN} more; see assumptions in run.json"


def _coverage(result: RunResult) -> Iterator[str]:
    lines, branches = result.coverage.lines, result.coverage.branches
    covered = []
    if lines.total:
        covered.append(f"{lines.covered:,} of {count(lines.total, 'line')} ({lines.percent:.0f}%)")
    if branches.total:
        covered.append(
            f"{branches.covered:,} of {branches.total:,} branch directions ({branches.percent:.0f}%)"
        )
    if covered:
        known = "" if lines.total else "; compile with -g for lines"
        yield f"Covered {' and '.join(covered)}{known}."
    yield from _dead(result.reductions.get("redundancy", {}).get("proved dead", []))


def _dead(places: list[str]) -> Iterator[str]:
    """Lines that were proved to be unreachable."""
    if not places:
        return
    told = [f"{_near(file)}:{line}" for file, _, line in (place.rpartition(":") for place in places[:_SHOWN])]
    more = f", and {len(places) - _SHOWN} more in run.json" if len(places) > _SHOWN else ""
    yield f"Proved dead: {count(len(places), 'line')} that no input reaches: {', '.join(told)}{more}."


def _near(file: str) -> str:
    """A file as seen from the current directory, if it lies below."""
    if file and os.path.isabs(file):
        near = os.path.relpath(file)
        if not near.startswith(".."):
            return near
    return file


def _where(error: ErrorRecord) -> str:
    location = f"{_near(error.file)}:{error.line}" if error.file and error.line else error.location
    return f"{location} in {error.function}" if error.function else location


def _errors(result: RunResult) -> Iterator[str]:
    if not result.errors:
        if result.complete:
            yield "No error found: none of the checks made can fail on any input."
        else:
            yield "No error found on the paths explored."
        return
    yield f"Found {count(len(result.errors), 'error')}:"
    for error in result.errors[:_SHOWN]:
        yield f"  {_where(error)}: {error.message} [{error.kind}]"
    if len(result.errors) > _SHOWN:
        yield f"  and {len(result.errors) - _SHOWN} more; see errors in run.json"


_TARGETS = {
    "error": "an error was found there",
    "reached": "reached, and no error was found there so far",
    "not reached": "not reached so far",
    "no error": "no error there: every path that can lead to it was followed",
    "unreachable": "cannot be reached: every path that could lead to it was followed",
}


def target_lines(result: RunResult) -> Iterator[str]:
    """What came of each line that the run aimed at."""
    for target in result.targets:
        text = _TARGETS[target.status] + (f" [{target.kind}]" if target.kind else "")
        if target.status == "unreachable" and result.paths_error:
            text += f", {count(result.paths_error, 'path')} to an error before it"
        yield f"Target {_near(target.file)}:{target.line}: {text}."


def _behind_errors(result: RunResult) -> Iterator[str]:
    if not result.unexplored:
        return
    yield "Not explored, because paths ended in an error before they got there:"
    for item in result.unexplored[:_SHOWN]:
        places = "; ".join(f"{_near(file)}:{ranges(lines)}" for file, lines in item.lines.items())
        what = f"{places} in {item.function}" if places else f"parts of {item.function}"
        yield f"  {what}" + (", which was never entered" if item.whole else "")
    if len(result.unexplored) > _SHOWN:
        more = count(len(result.unexplored) - _SHOWN, "more function")
        yield f"  and {more}; see unexplored_behind_errors in run.json"


def _checks(result: RunResult) -> Iterator[str]:
    watching = [check for check in result.checks if check.total]
    idle = [check.name for check in result.checks if not check.total]
    if not result.checks:
        return
    made = ", ".join(f"{check.name} {check.reached:,} of {check.total:,}" for check in watching)
    none = f"nothing to check for {', '.join(idle)}" if idle else ""
    yield f"Checks made, by places reached: {'; '.join(filter(None, (made, none)))}."


def _shown_directory(directory: Path) -> Path:
    """The link to the last run if it leads here: shorter to type, and the same next time."""
    link = directory.parent / LAST
    return link if link.is_symlink() and os.path.realpath(link) == os.path.realpath(directory) else directory


def _next_steps(result: RunResult, directory: Path) -> Iterator[str]:
    yield f"Wrote {count(result.tests, 'test')} to {directory}."
    shown = _shown_directory(directory)
    first = result.errors[0] if result.errors else None
    if first is not None and first.test is not None:
        name = f"{shown}/test{first.test:06d}"
        yield f"Next: less {name}.{first.file_suffix}.err    # where and how the first one fails"
        yield f"      anabranch show-test {name}.ktest    # the input that makes it fail"
    elif result.tests:
        yield f"Next: anabranch show-test {shown}/*.ktest    # the inputs of the tests"
    else:
        yield f"Next: less {shown}/run.json    # all figures of the run"
