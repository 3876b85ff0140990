"""Anabranch: symbolic execution of C and LLVM IR in which paths that fork come together again."""

__version__ = "0.1.0"
