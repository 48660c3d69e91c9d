from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from equipoise.run.search.plan import SearchPlan, SearchWay, load_search
from tests.unit.run.conftest import cells_here, location, store  # noqa: F401 (fixtures)

SMALL = "base: {data.limit: 200, model: mlp, client.epochs: 1, partition.clients: 3, rounds: 3}"
"""Settings under which a run takes a tenth of a second."""
Planned = Callable[..., SearchPlan]


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    """planned("client.lr: {low: 0.01, high: 0.1}", trials=3, …) → the plan of a file with these ranges."""

    def made(ranges: str, *overrides: str, base: str = SMALL, seeds: object = None, **way: object) -> SearchPlan:
        path = tmp_path / "ranges.yaml"
        path.write_text(f"preset: fedavg\n{base}\nsearch: {{{ranges}}}\n")
        return load_search(str(path), overrides, SearchWay(**{"trials": 3, **way}), seeds)

    return made
