"""Removal of z-equivalent states: Li, Cheung, Zhang, Liu, "Scaling Up Symbolic Analysis by Removing
Z-Equivalent States", TOSEM 2014."""
