"""Source packages of Debian, through apt-get with settings of our own: the system's files stay as they are.

Sources are kept in the user's cache directory and downloaded once; nothing of them is part of the project.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SourceError(Exception):
    """A package could not be had; the message says why."""


def cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "anabranch" / "bench" / "debian"


def _source_entries() -> tuple[str, str]:
    """deb-src entries for the system's own Debian mirrors, as one-line list and as stanzas."""
    lines: list[str] = []
    stanzas: list[str] = []
    etc = Path("/etc/apt")
    for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list"))]:
        if path.is_file():
            lines += [f"deb-src{line[3:]}" for line in path.read_text().splitlines()
                      if line.startswith("deb ") and "debian" in line]  # fmt: skip
    for path in sorted((etc / "sources.list.d").glob("*.sources")):
        for stanza in path.read_text().split("\n\n"):
            kept = [line for line in stanza.splitlines() if line.strip() and not line.startswith("#")]
            if any(line.startswith("URIs:") and "debian" in line for line in kept):
                stanzas.append("\n".join("Types: deb-src" if s.startswith("Types:") else s for s in kept))
    if not lines and not stanzas:
        raise SourceError("no Debian mirror among the sources of this system's apt")
    return "\n".join(lines) + "\n", "\n\n".join(stanzas) + "\n"


def _configuration(directory: Path) -> Path:
    for name in ("lists/partial", "cache/archives/partial", "parts"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    lines, stanzas = _source_entries()
    (directory / "sources.list").write_text(lines)
    (directory / "parts" / "debian.sources").write_text(stanzas)
    file = directory / "apt.conf"
    file.write_text(
        f'Dir::Etc::sourcelist "{directory}/sources.list";\nDir::Etc::sourceparts "{directory}/parts";\n'
        f'Dir::State::lists "{directory}/lists";\nDir::Cache "{directory}/cache";\nAPT::Sandbox::User "";\n'
    )
    return file


def _apt(words: list[str], directory: Path, cwd: Path) -> None:
    done = subprocess.run(
        ["apt-get", "-q", *words],
        env={**os.environ, "APT_CONFIG": str(_configuration(directory))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=cwd,
        check=False,
    )
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-5:])
        raise SourceError(f"apt-get {' '.join(words)} failed:\n{tail}")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """One process at a time: commands that begin together share the downloads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def source(package: str) -> Path:
    """The unpacked upstream source of a package, downloaded on first use."""
    cache = cache_directory()
    target = cache / "source" / package
    if target.is_dir():
        return target
    if shutil.which("apt-get") is None:
        raise SourceError("apt-get is needed to get the sources of Debian packages")
    with _lock(cache / "lock"):
        if not target.is_dir():
            _unpack(_download(package, cache), target)
    return target


def _upstream(directory: Path) -> list[Path]:
    return [path for path in directory.glob("*.orig.tar.*") if path.suffix != ".asc"]


def _download(package: str, cache: Path) -> Path:
    """The upstream archive of a package."""
    downloads, apt = cache / "downloads" / package, cache / "apt"
    downloads.mkdir(parents=True, exist_ok=True)
    if not _upstream(downloads):
        if not any((apt / "lists").glob("*Sources*")):
            apt.mkdir(parents=True, exist_ok=True)
            _apt(["update"], apt, cache)
        try:
            _apt(["source", "--download-only", package], apt, downloads)
        except SourceError:
            # Mirrors drop the packaging of an older version first; only the upstream archive is needed.
            if not _upstream(downloads):
                raise
    archives = _upstream(downloads)
    if not archives:
        raise SourceError(
            f"{package}: no upstream archive among {sorted(p.name for p in downloads.iterdir())}"
        )
    return archives[0]


def _unpack(archive: Path, target: Path) -> None:
    unpacked = target.parent / f".{target.name}.{os.getpid()}"
    with tarfile.open(archive) as tar:
        tar.extractall(unpacked, filter="tar")
    inside = list(unpacked.iterdir())
    (inside[0] if len(inside) == 1 else unpacked).rename(target)
    shutil.rmtree(unpacked, ignore_errors=True)


def version(package: str) -> str:
    """The version that was downloaded, as the name of its archive tells."""
    found = sorted((cache_directory() / "downloads" / package).glob("*.orig.tar.*"))
    return found[0].name.split("_", 1)[1].split(".orig")[0] if found else "?"
