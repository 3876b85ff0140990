"""The environment of the processes in which LLVM runs."""

from __future__ import annotations

import os
from pathlib import Path


def worker_environment() -> dict[str, str]:
    """Ours, with this very package to be found first."""
    package_root = str(Path(__file__).resolve().parent.parent.parent)
    paths = [package_root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
