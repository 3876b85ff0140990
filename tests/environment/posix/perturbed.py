"""Checks a declaration against what a call does: where all that it does not declare to read is different, it
must do the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from anabranch.environment.call_parts import CallParts, call_parts, touched
from anabranch.environment.parts import Key, Notes, content, differing, kernel_state
from anabranch.environment.posix.errors import Failure
from anabranch.environment.posix.filesystem import ROOT, FileSystem
from anabranch.environment.posix.kernel import FILES, PROCESS, dispatch
from anabranch.environment.posix.nodes import O_APPEND, Descriptor, joined
from anabranch.environment.posix.numbers import NAMES
from anabranch.environment.posix.parts import KernelState, holds_contents
from anabranch.expr import Expr
from anabranch.machine.ends import Exit, Loss, ProgramError, Silent
from anabranch.machine.joining.same import plain
from tests.environment.fake import Ended

ENDS = (Ended, Exit, Loss, ProgramError, Silent)


@dataclass
class Outcome:
    """What a call did: its result or how it ended the path, what it wrote, the notes behind it."""

    result: Any = None
    acts: list[tuple[Any, ...]] = field(default_factory=list)
    notes: Notes = field(default_factory=dict)


class Trial:
    """The machine of a path for a call that leaves no trace there: what it decides are the answers of one
    value of each input, what it does is kept in `outcome`."""

    def __init__(self, m: Any, notes: Notes, sample: Callable[[Any], int]) -> None:
        self._m, self._sample = m, sample
        self.outcome = Outcome(notes=notes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._m, name)  # what only looks

    def note(self, key: object, default: object) -> Any:
        return self.outcome.notes.get(key, default)

    def set_note(self, key: object, value: object) -> None:
        self.outcome.notes = {**self.outcome.notes, key: value}

    def decide(self, condition: Any) -> bool:
        return bool(self._sample(condition))

    def pick(self, value: Any, width: int, why: str) -> int:
        return self._sample(value)

    def bounds(self, value: Any, width: int) -> tuple[int, int]:
        return self._sample(value), self._sample(value)

    def size(self, value: Any, width: int, what: str, unit: int = 1) -> int:
        return self._sample(value)

    def are_few(self, value: Any) -> bool:
        return True

    def conditional(self, length: Any, room: int, to: int, source: int | None = None) -> int | None:
        return None

    def room(self, length: Any, reads: Sequence[Any], writes: Sequence[Any]) -> int:
        return min(self._m.span(address) for address in (*reads, *writes))

    def capacity(self, size: Any, what: str) -> tuple[int, None]:
        return self._sample(size), None

    def _act(self, *what: Any) -> None:
        self.outcome.acts.append(what)

    def store(self, address: Any, size: int, value: Any) -> None:
        self._act("write", address, size, value)

    def write_bytes(self, address: Any, data: Any) -> None:
        self._act("write", address, len(data), data)

    def write_up_to(self, address: Any, length: Any, data: Any) -> None:
        self._act("write", address, length, data)

    def copy(self, to: Any, source: Any, size: int) -> None:
        self._act("copy", to, source, size)

    def emit(self, items: Any, stream: int = 1) -> None:
        self._act("emit", stream, len(items), list(items))

    def allocate(self, size: Any, *what: Any, **more: Any) -> int:
        self._act("allocate", size, what)
        return len(self.outcome.acts) << 48

    def release(self, address: Any) -> None:
        self._act("release", address)

    def fixed_answer(self, asked: str, answer: str) -> None:
        self._act("answer", asked, answer)

    def lose(self, what: str) -> None:
        self._act("lose", what)

    def warn(self, text: str, once: bool = True) -> None:
        pass

    def exit(self, code: Any, handlers: str | None = None) -> None:
        raise Exit(code)


def tried(m: Any, arguments: Sequence[Any], notes: Notes, sample: Callable[[Any], int]) -> Outcome:
    trial = Trial(m, notes, sample)
    try:
        trial.outcome.result = dispatch(trial, arguments[0], tuple(arguments[1:]))
    except ENDS as end:
        trial.outcome.result = (type(end).__name__, *map(str, end.args))
    except Failure as failure:  # a bug of the call
        trial.outcome.result = ("failure", failure.code)
    return trial.outcome


# ---- other states --------------------------------------------------------------------------------------

Change = Callable[[FileSystem], FileSystem]


def other_states(state: KernelState, read: frozenset[Key]) -> Iterator[KernelState]:
    """The state with all things of one kind changed that are not `read`, for each kind; then with all of all
    kinds."""
    groups: dict[str, KernelState] = {}
    everything = state
    for name, change in changes(state):
        groups[name] = _unread(groups.get(name, state), change, read)
        everything = _unread(everything, change, read)
    yield from (found for found in groups.values() if found is not state)
    yield everything


def _unread(
    state: KernelState, change: Callable[[KernelState], KernelState], read: frozenset[Key]
) -> KernelState:
    changed = change(state)
    return state if touched(read, differing(as_notes(state), as_notes(changed))) else changed


def as_notes(state: KernelState) -> Notes:
    return {FILES: state.fs, PROCESS: state.process}


def changes(state: KernelState) -> Iterator[tuple[str, Callable[[KernelState], KernelState]]]:
    def files(name: str, change: Change) -> tuple[str, Callable[[KernelState], KernelState]]:
        return name, lambda s: replace(s, fs=change(s.fs))

    def process(name: str, **what: Any) -> tuple[str, Callable[[KernelState], KernelState]]:
        return name, lambda s: replace(s, process=replace(s.process, **what))

    fs, p = state.fs, state.process
    yield files("clock", lambda fs: fs.changed(now=fs.now + 12345))
    yield files("umask", lambda fs: fs.changed(umask=fs.umask ^ 0o77))
    yield files("identity", lambda fs: fs.changed(uid=1000, gid=1000))
    yield files("numbers", lambda fs: fs.changed(next_node=fs.next_node + 7))
    yield files("cwd", lambda fs: fs.changed(cwd=ROOT if fs.cwd != ROOT else fs.nodes[ROOT].entries[b"tmp"]))
    yield process("process", pid=p.pid + 1)
    yield process("signals", mask=7, actions=p.actions.set(9, (1, 0, 0, 0)))
    yield process("limits", limits=p.limits.set(7, (3, 3)))
    yield process("random", random_calls=p.random_calls + 1)
    yield process("thread area", thread_area=p.thread_area + 16)
    yield process("failures", failures_left=p.failures_left + 1, calls=p.calls.set("read", 3))
    for number, node in sorted(fs.nodes.items()):
        yield files("node", partial(_node, number))
        yield files("times", partial(_times, number))
        yield files("data", partial(_data, number))
        yield files("size", partial(_size, number))
        if node.is_directory:
            yield files("entries", partial(_entries, number))
    for number in sorted(fs.files):
        yield files("file", partial(_flags, number))
        yield files("offset", partial(_offset, number))
    for number in sorted(fs.descriptors):
        yield files("on exec", partial(_on_exec, number))
        yield files("closed", partial(_closed, number))
    yield files("opened", lambda fs: fs.opened(ROOT, 0)[0])
    yield files(
        "opened further up", lambda fs: fs.duplicated(min(fs.descriptors), 70) if fs.descriptors else fs
    )


def _node(number: int, fs: FileSystem) -> FileSystem:
    status = fs.nodes[number].status
    mode = status.mode if isinstance(status.mode, Expr) else status.mode ^ 0o111
    return fs.put(fs.nodes[number].linked(1).with_status(uid=5, mode=mode))


def _times(number: int, fs: FileSystem) -> FileSystem:
    return fs.put(fs.nodes[number].with_status(atime=(1, 2), mtime=(3, 4), ctime=(5, 6)))


def _data(number: int, fs: FileSystem) -> FileSystem:
    node = fs.nodes[number]
    if node.kind == "link" or not holds_contents(node):
        return fs
    return fs.put(node.changed(data=bytes(0x55 if isinstance(x, Expr) else x ^ 0x55 for x in node.data)))


def _size(number: int, fs: FileSystem) -> FileSystem:
    node = fs.nodes[number]
    if node.kind == "link" or not holds_contents(node):
        return fs
    return fs.put(node.changed(data=joined(node.data, b"longer")).with_status(blocks=77))


def _entries(number: int, fs: FileSystem) -> FileSystem:
    entries = fs.nodes[number].entries
    device = min((n for n, node in fs.nodes.items() if not node.is_directory), default=ROOT)
    for name in sorted(entries)[:1]:
        entries = entries.delete(name)
    return fs.put(fs.nodes[number].changed(entries=entries.set(b"other", device)))


def _flags(number: int, fs: FileSystem) -> FileSystem:
    file = fs.files[number]
    return fs.changed(files=fs.files.set(number, replace(file, flags=file.flags ^ O_APPEND)))


def _offset(number: int, fs: FileSystem) -> FileSystem:
    file = fs.files[number]
    offset = 3 if isinstance(file.offset, Expr) else file.offset + 3
    return fs.changed(files=fs.files.set(number, replace(file, offset=offset, listing=None)))


def _on_exec(number: int, fs: FileSystem) -> FileSystem:
    old = fs.descriptors.get(number)
    if old is None:
        return fs
    return fs.changed(descriptors=fs.descriptors.set(number, Descriptor(old.file, not old.close_on_exec)))


def _closed(number: int, fs: FileSystem) -> FileSystem:
    return fs.closed(number) if number in fs.descriptors else fs


# ---- the check -----------------------------------------------------------------------------------------


@dataclass
class Checks:
    """What has been checked."""

    most: int = 1000
    """Checks of one system call."""
    calls: int = 0
    undeclared: set[int] = field(default_factory=set)
    states: int = 0
    _seen: Counter[int] = field(default_factory=Counter)

    def call(self, m: Any, name: str, arguments: Sequence[Any], notes: Notes, sample: Any) -> None:
        """Check one system call, before it is made; the path is left alone."""
        self.calls += 1
        self._seen[arguments[0]] += 1
        if self._seen[arguments[0]] > self.most:
            return
        first = tried(m, arguments, notes, sample)
        found = call_parts(name, arguments, notes, first.notes)
        if found is None:
            self.undeclared.add(arguments[0])
            return
        wrong = f"{NAMES.get(arguments[0], arguments[0])}{tuple(arguments[1:])}: {first.result}"
        undeclared = differing(notes, first.notes) - touched(differing(notes, first.notes), found.writes)
        assert not undeclared, f"{wrong}: writes {undeclared}"
        assert found.chooses <= found.reads, wrong
        for state in other_states(kernel_state(notes), found.reads):
            self.states += 1
            other = {**notes, **as_notes(state)}
            second = tried(m, arguments, other, sample)
            changed = differing(notes, other)
            compare(found, changed, first, second, f"{wrong}; different: {sorted(changed, key=repr)}")
            after = call_parts(name, arguments, other, second.notes)
            assert after is not None and after.writes == found.writes, wrong
            for key in differing(other, second.notes) | differing(first.notes, second.notes):
                check_part(found, changed, key, (notes, first.notes), (other, second.notes), wrong)


def compare(found: CallParts, changed: frozenset[Key], first: Outcome, second: Outcome, wrong: str) -> None:
    """The same result and the same acts; the bytes that are handed on may be others."""
    assert plain(first.result) == plain(second.result), f"{wrong}: {second.result}"
    handed_on = {source for source, target in found.passes if not is_part(target) and is_part(source)}
    others = bool(touched(changed, frozenset(handed_on)))  # type: ignore[arg-type]
    for mine, other in zip(first.acts, second.acts, strict=True):
        skip = 1 if others and mine[0] in ("write", "emit") else 0
        assert plain(mine[: len(mine) - skip]) == plain(other[: len(other) - skip]), f"{wrong}: {other}"


def is_part(place: object) -> bool:
    return isinstance(place, tuple)


def check_part(
    found: CallParts,
    changed: frozenset[Key],
    key: Key,
    first: tuple[Notes, Notes],
    second: tuple[Notes, Notes],
    wrong: str,
) -> None:
    """A part is left alone, or it is the same on both paths unless it was not before."""
    before, after = (content(notes, key) for notes in second)
    if not touched([key], found.writes):
        assert before == after, f"{wrong}: writes {key}"
        return
    if key in changed and key not in found.made:
        return
    sources = {
        source
        for source, target in found.passes
        if is_part(target) and touched([key], frozenset([target]))  # type: ignore[list-item]
    }
    if not touched(changed, frozenset(filter(is_part, sources))):  # type: ignore[arg-type]
        assert content(first[1], key) == after, (
            f"{wrong}: {key} depends on one of {sorted(changed, key=repr)}"
        )
