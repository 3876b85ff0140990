"""Merging of states (Kuznetsov et al., PLDI 2012)."""
