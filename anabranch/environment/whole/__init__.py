"""Strings as expressions: models of string functions that build one expression and do not fork."""

from anabranch.environment.whole import compare, copy, numbers, search  # registers the models
from anabranch.environment.whole.registry import WHOLE, whole_model

__all__ = ["WHOLE", "compare", "copy", "numbers", "search", "whole_model"]
