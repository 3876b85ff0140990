from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.frontend import FrontendOptions, Program, load_program


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Program]:
    """Load files that are given as name=content (`m_c` is `m.c`), without a cache unless asked for."""
    monkeypatch.chdir(tmp_path)

    def run(*paths: Path, cache: bool = False, **options: object) -> Program:
        settings = FrontendOptions(cache_dir=tmp_path / "cache", use_cache=cache, **options)  # type: ignore[arg-type]
        return load_program(list(paths), settings)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def run(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return run
