"""GNU coreutils from Debian's source package, built by `anabranch cc`: native programs with their bitcode."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.lib.debian import SourceError, cache_directory, source, version

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIGURE = (
    "--disable-nls", "--disable-threads", "--without-selinux", "--without-openssl", "--disable-acl",
    "--disable-xattr", "--disable-libcap",
)  # fmt: skip
# code for certain processors and inline assembly: all of it has a portable version beside it
NOT_PORTABLE = ("USE_AVX2_WC_LINECOUNT", "USE_PCLMUL_CRC32")
# some checks refuse to run as root unless told
SETTINGS = {"CPPFLAGS": "-DUSE_LONGLONG_H=0", "FORCE_UNSAFE_CONFIGURE": "1"}


class BuildError(Exception):
    """A step of a build failed; the message has the end of its output."""


@dataclass(frozen=True)
class Step:
    name: str
    seconds: float


def wrapper_environment() -> dict[str, str]:
    """Environment in which `$CC` is `anabranch cc` of this project."""
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        **os.environ,
        "CC": f"{sys.executable} -m anabranch.cli.main cc",
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "LC_ALL": "C",
    }


def run_step(
    name: str, command: Sequence[str], directory: Path, environment: Mapping[str, str], log: Path
) -> Step:
    """Run one command of a build; its output goes to `log`."""
    started = time.monotonic()
    with open(log, "ab") as out:
        done = subprocess.run(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            check=False,
        )
    if done.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise BuildError(f"{name} failed with code {done.returncode} (see {log}):\n{tail}")
    return Step(name, time.monotonic() - started)


def build_directory() -> Path:
    return cache_directory() / "build" / "coreutils"


def build(jobs: int) -> list[Step]:
    """Configure and make, as far as that has not been done; the steps taken."""
    try:
        tree = source("coreutils")
    except SourceError as error:
        raise BuildError(str(error)) from error
    if version("coreutils") != "9.1":
        raise BuildError(f"coreutils 9.1 is wanted, Debian's sources here have {version('coreutils')}")
    directory = build_directory()
    directory.mkdir(parents=True, exist_ok=True)
    environment = {**wrapper_environment(), **SETTINGS}
    log = directory / "build.log"
    steps = []
    if not (directory / "Makefile").exists():
        steps.append(
            run_step("configure", [str(tree / "configure"), *CONFIGURE], directory, environment, log)
        )
        _choose_portable(directory / "lib" / "config.h")
    steps.append(run_step("make", ["make", f"-j{jobs}"], directory, environment, log))
    return steps


def _choose_portable(header: Path) -> None:
    text = header.read_text()
    for name in NOT_PORTABLE:
        text = text.replace(f"#define {name} 1", f"/* #undef {name} */")
    header.write_text(text)


def program(utility: str) -> Path:
    """The native program; its bitcode is beside it."""
    return build_directory() / "src" / utility


def bitcode(utility: str) -> Path:
    return program(utility).with_name(utility + ".bc")
