"""A merge policy: states at one location merge if at most two live values of theirs differ."""

from anabranch.plugin import frames, merge_policy


@merge_policy("few-differences", help="where at most two live values differ")
class FewDifferences:
    def __init__(self, context):
        pass

    def key(self, state):
        return tuple(site for site, _ in frames(state))

    def similar(self, a, b):
        differing = 0
        for (_, mine), (_, others) in zip(frames(a), frames(b), strict=True):
            differing += sum(x is not y for x, y in zip(mine, others, strict=True))
        return differing <= 2
