"""What an LLVM operation means on values, concrete or symbolic (see README.md)."""
