from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from equipoise.run.cell import run_cell
from equipoise.run.cell_processes import Answer
from equipoise.run.search.plan import SearchPlan, SearchWay, load_search
from tests.unit.run.conftest import location, store  # noqa: F401 (fixtures)

SMALL = "base: {data.limit: 200, model: mlp, client.epochs: 1, partition.clients: 3, rounds: 3}"
"""Settings under which a run takes a tenth of a second."""
Planned = Callable[..., SearchPlan]


class WorkersHere:
    """The workers of a search without processes: one order is carried out when answers are waited for, the oldest or
    the newest. What was ordered and not carried out is lost when they are closed, as with a process that is killed."""

    retries = 0

    def __init__(self, n: int, is_newest_first: bool = False) -> None:
        self.n = n
        self._keys, self._orders = count(), deque[tuple[int, bytes]]()
        self._next = self._orders.pop if is_newest_first else self._orders.popleft

    def begin(self, order: bytes) -> int:
        key = next(self._keys)
        self._orders.append((key, order))
        return key

    def answers(self) -> list[Answer]:
        key, order = self._next()
        return [Answer(key, json.dumps(run_cell(json.loads(order))).encode())]

    def close(self) -> None:
        self._orders.clear()


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    """planned("client.lr: {low: 0.01, high: 0.1}", trials=3, …) → the plan of a file with these ranges."""

    def made(ranges: str, *overrides: str, base: str = SMALL, seeds: object = None, **way: object) -> SearchPlan:
        path = tmp_path / "ranges.yaml"
        path.write_text(f"preset: fedavg\n{base}\nsearch: {{{ranges}}}\n")
        return load_search(str(path), overrides, SearchWay(**{"trials": 3, **way}), seeds)

    return made
