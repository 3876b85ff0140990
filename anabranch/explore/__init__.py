"""Exploration: search orders, the execution tree, coverage and limits."""
