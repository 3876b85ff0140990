"""Builds static merging in which loops become one state."""

from __future__ import annotations

from anabranch.explore.build import Parts
from anabranch.explore.technique import Technique
from anabranch.reduce.loops.locations import Loops
from anabranch.reduce.loops.similarity import LoopSimilarity
from anabranch.reduce.loops.summaries.technique import LoopSummaries
from anabranch.reduce.loops.technique import LoopMerging
from anabranch.reduce.merging.join_points import stack_of
from anabranch.reduce.merging.settings import AUTO
from anabranch.reduce.merging.setup import make_similarity
from anabranch.reduce.merging.similarity import QceSimilarity
from anabranch.reduce.merging.static import StaticMerging
from anabranch.reduce.merging.tuning import MergeTuning


def merging_with_loops(
    parts: Parts, policy: str, tuning: MergeTuning, mode: str, summaries: bool = True
) -> list[Technique]:
    """Static merging by a policy, and of loops as `--loops` says. `summaries`: may there be any?"""
    verify = parts.settings.search.verify_reductions
    loops = Loops(truths=mode == "quantified")
    similarity = make_similarity(parts, policy)
    hot_cells = similarity.hot_cells if isinstance(similarity, QceSimilarity) else stack_of
    around = LoopSimilarity(similarity, hot_cells, loops)
    static = StaticMerging(parts, around, tuning, policy == AUTO, verify, around.mixes_rounds)
    made: list[Technique] = [static, LoopMerging(parts, static, around, mode)]
    if summaries and mode in ("auto", "summaries"):
        made.insert(1, LoopSummaries(parts, static, static.first))
    return made
