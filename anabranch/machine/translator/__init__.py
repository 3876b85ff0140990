"""LLVM functions as Python functions."""
