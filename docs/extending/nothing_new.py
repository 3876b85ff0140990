"""A prune: a state from which no uncovered code can be reached goes no further."""

from anabranch.plugin import UNREACHABLE, Contract, Technique, technique


@technique
class NothingNew(Technique):
    name = "nothing new"
    contract = Contract(
        keeps="coverage of what the call graph says can be reached, through 16 callers",
        loses="paths, and errors in code that is covered already",
        serves=frozenset({"coverage"}),
    )

    def __init__(self, parts):
        super().__init__(parts)
        self.dropped = 0

    def covers(self, state):
        if self.parts.distance(state) < UNREACHABLE:
            return False
        self.dropped += 1
        return True

    def figures(self):
        return {"dropped": self.dropped}
