"""The trust harness: one command a claim, run as ``python -m bench.NAME``."""
