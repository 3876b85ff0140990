"""The one error of the reader."""


class IRError(ValueError):
    """Text that is not LLVM IR as we know it; the message is one line that names the line of the text."""

    @classmethod
    def at(cls, line: int, message: str) -> "IRError":
        return cls(f"line {line}: {message}")


MALFORMED = (
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
    OverflowError,
    MemoryError,
)
"""What reading malformed text can raise on the way to an IRError."""


def located(line: int, error: BaseException, text: str) -> IRError:
    """The IRError for anything that went wrong while reading `text` at `line`."""
    if isinstance(error, IRError):
        return error
    shown = " ".join(text.split())
    if len(shown) > 80:
        shown = shown[:77] + "..."
    said = str(error) if isinstance(error, ValueError) else ""
    reason = said or "the line ends too early or is malformed"
    return IRError.at(line, f"{' '.join(reason.split())[:200]} in '{shown}'")
