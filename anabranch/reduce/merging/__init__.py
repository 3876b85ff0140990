"""Merging of states (seed 001)."""
