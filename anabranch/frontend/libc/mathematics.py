"""Mathematics that clang asks of LLVM and the engine does not compute, asked of the library again.

Where errno does not matter, clang turns `exp(x)` into `llvm.exp.f64`, for a code generator to turn back.
"""

from __future__ import annotations

import re

_FUNCTIONS = "acos|asin|atan|atan2|cos|cosh|exp|exp10|exp2|ldexp|log|log10|log2|pow|sin|sinh|tan|tanh"
_ROUNDED = "lrint|llrint|lround|llround"
_CALLED = re.compile(
    rf"@llvm\.(?P<name>(?:{_FUNCTIONS})(?=\.f)|(?:{_ROUNDED})(?=\.i64\.))(?:\.i64)?\.(?P<type>f32|f64|f80)(?:\.i32)?\("
)
_SUFFIX = {"f32": "f", "f64": "", "f80": "l"}


def call_library(text: str) -> str:
    """The text of a module with calls of the library's functions."""
    names = {match[0][:-1]: match["name"] + _SUFFIX[match["type"]] for match in _CALLED.finditer(text)}
    for intrinsic, name in names.items():
        if re.search(rf"^(?:define|declare) [^\n]*@{name}\(", text, re.MULTILINE):
            text = re.sub(rf"^declare [^\n]*{re.escape(intrinsic)}\([^\n]*\n", "", text, flags=re.MULTILINE)
        text = text.replace(f"{intrinsic}(", f"@{name}(")
    return text
