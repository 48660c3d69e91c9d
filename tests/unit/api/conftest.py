"""Two runs that were trained once for all tests of the API; none of them may change them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equipoise as eq

TINY: dict[str, Any] = {
    "data.limit": 200, "data.test_limit": 60, "partition.clients": 3, "partition.alpha": 0.5, "client.epochs": 1,
    "model": "mlp", "model.hidden": 16,
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store that a test has to itself."""
    return tmp_path / "runs.db"


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("api") / "runs.db"


@pytest.fixture(scope="session")
def in_rounds(shared: Path) -> eq.RunHandle:
    return eq.run("fedavg", TINY, rounds=2, seed=1, store=shared)


@pytest.fixture(scope="session")
def one_upload(shared: Path) -> eq.RunHandle:
    return eq.run("fafi", TINY, checkpoints=1, store=shared)
