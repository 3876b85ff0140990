"""Places that models of several modules declare to read or write."""

from __future__ import annotations

from typing import Final

from anabranch.analysis.effects import Part, Static

ERRNO: Final = Static("errno")
OUTPUT: Final = Part("output")
"""What was written to standard output and error; nothing reads it."""
NAMES: Final = Part("names")
"""Names that inputs have had: the next one of a stem gets another number."""
HANDLERS: Final = Part("handlers")
"""Functions to be called when the program ends."""
VARIABLES: Final = Part("environment")
"""Where the values of environment variables are."""
ALLOCATIONS: Final = Part("allocations")
"""How many allocations there were, where they may fail (`--failing-allocations`)."""
