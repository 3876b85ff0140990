"""Source packages of PyPI and npm by name and version, through pip and npm as this system has them set up.

Packages are kept in the user's cache directory and downloaded once; nothing of them is part of the project,
and none of their build scripts is run: pip is only asked for the archive (`pip download` prepares a build).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from bench.lib import debian
from bench.lib.debian import SourceError

# Run by the Python that has pip: prints the name of the file it wrote.
PIP_SOURCE = """
import sys
from pathlib import Path
from pip._internal.commands import create_command
from pip._vendor.packaging.specifiers import SpecifierSet

name, version, target = sys.argv[1:]
command = create_command("download")
options, _ = command.parse_args([name, "--no-binary", ":all:", "--quiet"])
with command.main_context():
    session = command.get_default_session(options)
    finder = command._build_package_finder(options, session)
    best = finder.find_best_candidate(name, SpecifierSet("==" + version)).best_candidate
    if best is None:
        sys.exit(f"no source archive of {name} {version}")
    answer = session.get(best.link.url_without_fragment)
    answer.raise_for_status()
    Path(target, best.link.filename).write_bytes(answer.content)
"""


def cache_directory() -> Path:
    return debian.cache_directory().parent / "registries"


def _run(command: list[str], cwd: Path) -> None:
    done = subprocess.run(
        command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SourceError(f"{command[0]} failed: {' '.join(done.stdout.split()[-40:])}")


def _download(registry: str, name: str, version: str, directory: Path) -> Path:
    if registry == "pypi":
        _run([sys.executable, "-c", PIP_SOURCE, name, version, str(directory)], directory)
    else:
        if shutil.which("npm") is None:
            raise SourceError("npm is needed to get this package")
        _run(["npm", "pack", f"{name}@{version}"], directory)
    found = list(directory.iterdir())
    if len(found) != 1:
        raise SourceError(f"{name} {version}: one archive expected, got {[p.name for p in found]}")
    return found[0]


def _unpack(archive: Path, directory: Path) -> Path:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(directory)
    else:
        with tarfile.open(archive) as tar:
            tar.extractall(directory, filter="tar")
    inside = list(directory.iterdir())
    return inside[0] if len(inside) == 1 else directory


def source(registry: str, name: str, version: str) -> Path:
    """The unpacked source of a package of `pypi`, `npm` or `debian`, downloaded on first use."""
    if registry == "debian":
        tree = debian.source(name)
        if debian.version(name) != version:
            raise SourceError(
                f"{name} {version} is wanted, Debian's sources here have {debian.version(name)}"
            )
        return tree
    target = cache_directory() / registry / f"{name}-{version}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        downloads, unpacked = Path(scratch, "download"), Path(scratch, "unpacked")
        downloads.mkdir()
        unpacked.mkdir()
        tree = _unpack(_download(registry, name, version, downloads), unpacked)
        try:
            tree.rename(target)
        except OSError:
            if not target.is_dir():  # another process may have been faster
                raise
    return target


__all__ = ["SourceError", "cache_directory", "source"]
