"""Redundant state detection."""
