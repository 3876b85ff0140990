"""The ledger: what merging at each location brought and cost, and where it is given up.

A turn of a state (from one choice of the search order to the next) is charged to the location where states
were last merged into it. The cost of a turn is the solver's effort, counted in resources and not in seconds,
so that the same run decides the same. Merging at a location is given up if the turns after it cost so much
more than turns of states that were never merged that they cannot be made up for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from anabranch.reduce.merging.tuning import LedgerRules

NOWHERE = -1


@dataclass(slots=True)
class Account:
    """One location."""

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
    """Accounts by location; `NOWHERE` is that of states that were never merged."""

    def __init__(
        self, effort: Callable[[], int], forks: Callable[[], int], rules: LedgerRules | None
    ) -> None:
        """`rules`: when locations that lose are given up; None: never, just keep the accounts."""
        self.accounts: dict[int, Account] = {NOWHERE: Account()}
        self._effort = effort
        self._forks = forks
        self._rules = rules
        self._running = NOWHERE
        self._before = (0, 0, 0.0)

    def turn(self, merged_at: int) -> None:
        """A state that was last merged there is about to run: what was spent since the last call belongs to
        the one before it."""
        now = (self._effort(), self._forks(), perf_counter())
        account = self._account(self._running)
        account.turns += 1
        account.effort += now[0] - self._before[0]
        account.forks += now[1] - self._before[1]
        account.seconds += now[2] - self._before[2] if self._before[2] else 0.0
        rules = self._rules
        if rules is not None and account.turns >= rules.enough_turns and self._running != NOWHERE:
            usual = self.accounts[NOWHERE].effort_a_turn
            account.given_up = account.effort_a_turn > max(rules.dear, 4 * usual)
        self._running = merged_at
        self._before = now

    def merged(self, location: int) -> None:
        self._account(location).merges += 1

    def open(self, location: int) -> bool:
        """Is merging at this location still worth trying?"""
        account = self.accounts.get(location)
        return account is None or not account.given_up

    def _account(self, location: int) -> Account:
        found = self.accounts.get(location)
        if found is None:
            found = self.accounts[location] = Account()
        return found

    def rows(self, describe: Callable[[int], str]) -> list[dict[str, Any]]:
        """The accounts as plain data, the dearest location first."""
        rows = [
            {
                "location": "before any merge" if location == NOWHERE else describe(location),
                "merges": account.merges,
                "turns": account.turns,
                "forks": account.forks,
                "effort": account.effort,
                "seconds": round(account.seconds, 3),
                "given up": account.given_up,
            }
            for location, account in self.accounts.items()
        ]
        return sorted(rows, key=lambda row: -float(row["seconds"]))
