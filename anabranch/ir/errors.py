"""The one error of the reader."""


class IRError(ValueError):
    """Text that is not LLVM IR as we know it; the message is one line that names the line of the text."""

    @classmethod
    def at(cls, line: int, message: str) -> "IRError":
        return cls(f"line {line}: {message}")
