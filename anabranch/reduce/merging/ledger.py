"""The ledger: what merging at each place brought and cost, and where it is given up.

A turn of a state (from one choice of the search order to the next) is charged to the place where states were
last joined into it. The cost of a turn is the solver's effort, counted in resources and not in seconds, so
that the same run decides the same. Merging at a place is given up if the turns after it cost so much more
than turns of states that were never joined that they cannot be made up for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from anabranch.machine import State

ENOUGH_TURNS = 40  # before a place is judged
DEAR = 400  # effort a turn, about 20 ms, that is too much whatever came before
NOWHERE = -1


@dataclass(slots=True)
class Account:
    """One place."""

    merges: int = 0
    turns: int = 0
    effort: int = 0
    forks: int = 0
    seconds: float = 0.0
    given_up: bool = False

    @property
    def effort_a_turn(self) -> float:
        return self.effort / self.turns if self.turns else 0.0


class Ledger:
    """Accounts by place; `NOWHERE` is that of states that were never joined."""

    def __init__(self, effort: Callable[[], int], forks: Callable[[], int], closes: bool) -> None:
        self.accounts: dict[int, Account] = {NOWHERE: Account()}
        self._effort = effort
        self._forks = forks
        self._closes = closes  # give up places that lose, or just keep the books
        self._running = NOWHERE
        self._before = (0, 0, 0.0)

    def turn(self, state: State) -> None:
        """A state is about to run: what was spent since the last call belongs to the one before it."""
        now = (self._effort(), self._forks(), perf_counter())
        account = self._account(self._running)
        account.turns += 1
        account.effort += now[0] - self._before[0]
        account.forks += now[1] - self._before[1]
        account.seconds += now[2] - self._before[2] if self._before[2] else 0.0
        if self._closes and account.turns >= ENOUGH_TURNS and self._running != NOWHERE:
            self._judge(account)
        self._running = state.joined_at
        self._before = now

    def _judge(self, account: Account) -> None:
        usual = self.accounts[NOWHERE].effort_a_turn
        account.given_up = account.effort_a_turn > max(DEAR, 4 * usual)

    def merged(self, place: int) -> None:
        self._account(place).merges += 1

    def open(self, place: int) -> bool:
        """Is merging at this place still worth trying?"""
        account = self.accounts.get(place)
        return account is None or not account.given_up

    def _account(self, place: int) -> Account:
        found = self.accounts.get(place)
        if found is None:
            found = self.accounts[place] = Account()
        return found

    def rows(self, describe: Callable[[int], str]) -> list[dict[str, Any]]:
        """The books as plain data, the dearest place first."""
        rows = [
            {
                "place": "before any merge" if place == NOWHERE else describe(place),
                "merges": account.merges,
                "turns": account.turns,
                "forks": account.forks,
                "effort": account.effort,
                "seconds": round(account.seconds, 3),
                "given up": account.given_up,
            }
            for place, account in self.accounts.items()
        ]
        return sorted(rows, key=lambda row: -float(row["seconds"]))
