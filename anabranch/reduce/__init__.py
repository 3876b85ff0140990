"""Reductions: what keeps the number of paths down without losing what the user asked for."""
