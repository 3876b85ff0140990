"""Removal of z-equivalent states (seed 000)."""
