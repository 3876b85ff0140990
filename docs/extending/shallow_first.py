"""A search order: the state with the fewest forks on its path goes first."""

from heapq import heappop, heappush
from itertools import count

from anabranch.plugin import search_order


@search_order("shallow-first", help="fewest forks first")
class ShallowFirst:
    description = "shallow-first"

    def __init__(self, context):
        self._heap = []
        self._waiting = {}
        self._arrival = count()

    def add(self, states):
        for state in states:
            self._waiting[state] = None
            heappush(self._heap, (state.depth, next(self._arrival), state))

    def remove(self, state):
        del self._waiting[state]

    def pick(self):
        while True:
            state = heappop(self._heap)[2]
            if state in self._waiting:
                del self._waiting[state]
                return state

    def __len__(self):
        return len(self._waiting)

    def states(self):
        return iter(self._waiting)
