"""Every test has its own cache and no data folder; tests of real files ask for `real_data`."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

REAL = os.environ.get("EQUIPOISE_DATA")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("EQUIPOISE_CACHE", str(folder))
    monkeypatch.delenv("EQUIPOISE_DATA", raising=False)
    monkeypatch.delenv("EQUIPOISE_MIRROR", raising=False)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.mkdir()
    return path


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def real_data() -> Path:
    if REAL is None:
        pytest.skip("EQUIPOISE_DATA is not set")
    return Path(REAL)
