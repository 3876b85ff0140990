"""`program.json`: what a run directory keeps so that its program can be built again natively."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAME = "program.json"


class ReplayError(Exception):
    """Replay cannot go on; the message is for the user."""


@dataclass(frozen=True, slots=True)
class ProgramRecord:
    """Where a program came from: files with their hashes, and the settings that shaped it."""

    directory: Path
    inputs: tuple[tuple[Path, str], ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    libc: str = "none"
    """The C library that was linked."""
    unknown: frozenset[str] = frozenset()
    """Functions without a body that the run called and answered for."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the user gave behind the program, `--sym-arg` and the like included."""
        return tuple(map(str, self.settings.get("program_args") or ()))

    def changed(self) -> list[Path]:
        """Inputs that are not any more what they were when the run began."""
        return [path for path, digest in self.inputs if _digest(self.directory / path) != digest]


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def record_text(inputs: tuple[Path, ...], directory: Path, libc: str = "none", reason: str = "") -> str:
    """The content of `program.json` for a run that starts now in `directory`."""
    files = [[str(path), _digest(directory / path)] for path in inputs]
    document = {"directory": str(directory), "inputs": files, "libc": libc, "library_reason": reason}
    return json.dumps(document, indent=2) + "\n"


def read_record(run_directory: Path) -> ProgramRecord:
    """What a run directory tells of its program; a message for the user if it tells too little."""
    try:
        run = json.loads((run_directory / "run.json").read_text("utf-8"))
        settings = run["settings"]
    except FileNotFoundError:
        raise ReplayError(f"{run_directory} is not a run directory: it has no run.json") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReplayError(f"{run_directory / 'run.json'}: cannot be read: {error}") from None
    try:
        told = json.loads((run_directory / NAME).read_text("utf-8"))
        inputs = tuple((Path(path), str(digest)) for path, digest in told["inputs"])
        libc = str(told.get("libc", settings.get("libc", "none")))
        unknown = frozenset(run.get("assumptions", {}).get("unknown_functions", ()))
        return ProgramRecord(Path(told["directory"]), inputs, settings, libc, unknown)
    except FileNotFoundError:
        # a run of an earlier version: its inputs may still be found from beside the run directory
        names = tuple((Path(name), "") for name in settings.get("inputs", ()))
        libc = str(settings.get("libc", "none"))
        return ProgramRecord(run_directory.resolve().parent, names, settings, libc)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReplayError(f"{run_directory / NAME}: cannot be read: {error}") from None
