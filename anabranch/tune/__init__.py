"""Automatic configuration of the decision procedure on queries that runs have logged."""
