"""Why two states cannot become one."""

from __future__ import annotations


class CannotJoin(Exception):
    """The states stay apart; the message is the reason, for the run's figures."""

    @property
    def reason(self) -> str:
        return str(self)
