"""The settings of all techniques, a group each.

The command line reads the list when it parses: a plugin adds the group of its technique before that.
"""

from __future__ import annotations

from anabranch.options import SettingsGroup
from anabranch.reduce.merging.settings import MergingSettings
from anabranch.reduce.redundancy.settings import RedundancySettings
from anabranch.reduce.zequivalence.settings import ZSettings

TECHNIQUE_SETTINGS: list[type[SettingsGroup]] = [MergingSettings, ZSettings, RedundancySettings]
