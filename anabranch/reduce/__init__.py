"""Reductions: techniques that explore less than everything, each behind an operator of the loop."""
