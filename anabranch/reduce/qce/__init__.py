"""Query count estimation: how many queries to come depend on which variable (see README.md)."""

from anabranch.analysis.addresses import Base
from anabranch.reduce.qce.counts import Counts, GlobalCounts, Location, similar
from anabranch.reduce.qce.estimator import QueryCounts
from anabranch.reduce.qce.parameters import QceParameters
