"""The processes in which LLVM runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def run_worker(module: str, request: Any, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run a module of this package with a request, as JSON on its standard input; what it answered."""
    package_root = str(Path(__file__).resolve().parent.parent.parent)
    paths = [package_root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return subprocess.run(
        [sys.executable, "-m", module],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
        timeout=seconds,
        check=False,
    )
