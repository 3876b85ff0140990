"""Processes that check functions: `--jobs N`.

A worker is a fork of the process that has read the program. It is given a function at a time, with the
records of the functions that this one uses, and makes the gated forms that it needs itself. Which worker
checks a function makes no difference to its record, so that results do not depend on the number of jobs.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from anabranch.check.cache import Answers
from anabranch.check.driver import Checker
from anabranch.check.order import Order
from anabranch.check.records import FunctionRecord
from anabranch.process_memory import release_memory, resident_bytes

CONSIDERED = 24
"""Functions that are ready among which a worker gets the one that costs it least."""
MAX_BYTES = 2 << 30
"""Resident memory of a process beyond which it drops all gated forms; they are made again where a function
that is still to be checked uses them."""

Done = tuple[FunctionRecord, Answers | None]
"""A record, and what was asked; None if it was known before."""
MakeChecker = Callable[[], Checker]


class WorkersError(Exception):
    """A process ended before its work was done; the message is one line."""


class Worker:
    """Checks functions one after the other, in bounded memory."""

    def __init__(self, make: MakeChecker, max_bytes: int = MAX_BYTES) -> None:
        self._make = make
        self._max_bytes = max_bytes
        self._checker: Checker | None = None
        self.records: dict[str, FunctionRecord] = {}
        self.dropped = 0
        """How often memory ran short."""

    def check(self, name: str, known: Answers) -> Done:
        if self._checker is not None and resident_bytes() > self._max_bytes:
            self._checker = None
            self.dropped += 1
        if self._checker is None:
            if self.dropped:
                gc.collect()
                release_memory()
            self._checker = self._make()
            self._checker.records = self.records
        self._checker.decider.begin(known)
        record = self._checker.check(name)
        self._checker.findings.clear()
        return record, self._checker.decider.asked


@dataclass(slots=True)
class _Remote:
    """The parent's end of a worker."""

    process: BaseProcess
    channel: Connection
    known: set[str] = field(default_factory=set)
    """Functions whose records it has."""
    gated: set[str] = field(default_factory=set)
    """Functions whose gated forms it has made."""
    at: str = ""


def _serve(make: MakeChecker, channel: Connection, max_bytes: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    worker = Worker(make, max_bytes)
    while True:
        try:
            task = channel.recv()
        except EOFError:
            return
        name, records, known = task
        worker.records.update(records)
        channel.send(worker.check(name, known))


class Workers:
    """Functions checked by several processes, each as soon as those that it uses have been."""

    def __init__(
        self,
        order: Order,
        size_of: Callable[[str], int],
        answers: Callable[[str], Answers],
        make: MakeChecker,
        jobs: int,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._order = order
        self._size_of = size_of
        self._answers = answers
        self._remotes = [self._start(make, max_bytes) for _ in range(jobs)]

    def _start(self, make: MakeChecker, max_bytes: int) -> _Remote:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(make, theirs, max_bytes), daemon=True)
        process.start()
        theirs.close()
        return _Remote(process, ours)

    def run(
        self,
        names: Sequence[str],
        records: dict[str, FunctionRecord],
        known: Callable[[str], FunctionRecord | None],
    ) -> Iterator[Done]:
        """Check functions, unless they are `known` once those that they use are. `records` gets all of them.
        In the order in which they are done."""
        waiting = {name: set(self._order.callees[name]) for name in names}
        users: dict[str, list[str]] = {}
        for name, callees in waiting.items():
            for callee in callees:
                users.setdefault(callee, []).append(name)
        ready = [name for name, callees in waiting.items() if not callees]
        idle = list(self._remotes)
        asked: set[str] = set()
        left = len(names)
        while left:
            finished: list[Done] = []
            for name in list(ready):
                if name not in asked and (found := known(name)) is not None:
                    ready.remove(name)
                    finished.append((found, None))
                asked.add(name)
            while ready and idle and not finished:
                self._give(idle.pop(), ready, records)
            if not finished:
                for remote, done in self._answered():
                    remote.known.add(done[0].name)
                    remote.gated.add(done[0].name)
                    idle.append(remote)
                    finished.append(done)
            for done in finished:
                record = done[0]
                records[record.name] = record
                left -= 1
                yield done
                for user in users.get(record.name, ()):
                    waiting[user].discard(record.name)
                    if not waiting[user]:
                        ready.append(user)

    def _give(self, remote: _Remote, ready: list[str], records: dict[str, FunctionRecord]) -> None:
        """The function for which a worker has least to make again."""
        considered = ready[:CONSIDERED]
        closures = {name: self._order.closure(name) for name in considered}
        name = min(
            considered,
            key=lambda n: sum(self._size_of(c) for c in closures[n] if c not in remote.gated),
        )
        ready.remove(name)
        remote.at = name
        new = {c: records[c] for c in closures[name] if c not in remote.known}
        remote.known.update(new)
        remote.gated.update(closures[name])
        try:
            remote.channel.send((name, new, self._answers(name)))
        except OSError:
            raise self._ended(remote) from None

    def _answered(self) -> list[tuple[_Remote, Done]]:
        busy = {remote.channel: remote for remote in self._remotes if remote.at}
        found = []
        for channel in wait(list(busy)):
            assert isinstance(channel, Connection)
            remote = busy[channel]
            try:
                found.append((remote, channel.recv()))
            except (EOFError, OSError):
                raise self._ended(remote) from None
            remote.at = ""
        return found

    def _ended(self, remote: _Remote) -> WorkersError:
        remote.process.join(5)
        code = remote.process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"code {code}"
        return WorkersError(f"a worker process ended ({how}) while it checked {remote.at}; try fewer --jobs")

    def close(self) -> None:
        for remote in self._remotes:
            remote.channel.close()
        for remote in self._remotes:
            remote.process.join(2)
            if remote.process.is_alive():
                remote.process.terminate()
                remote.process.join(2)
