"""Tests on the simulated device: `engine.device=sim`. `tests/sim` says what it simulates."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from equipoise.config.schema import Config
from equipoise.run.placed import moved
from equipoise.run.state import Record
from tests.conftest import Numbers, numbers, records
from tests.sim.fixtures import sim

__all__ = ["sim"]

UNSTABLE = ("hash/", "surprise/loss_corr", "input/")
"""Numbers that a rounding may turn into others: hashes, and the correlation of a step's few losses. Those of a first
batch include padding where clients train along one axis, as they do here and not on the CPU."""


@pytest.fixture(autouse=True)
def device(sim: object) -> None:
    """Skips where the device cannot be compiled."""


def on(device: str, config: Config) -> Sequence[Record]:
    return records(moved(config, device))


def comparable(steps: Sequence[Record]) -> Numbers:
    return {key: value for key, value in numbers(steps).items() if not key[2].startswith(UNSTABLE)}


def assert_close(ours: Sequence[Record], theirs: Sequence[Record], rel: float = 1e-3) -> None:
    """The same numbers but for rounding, and as a count of test samples but for one of a hundred."""
    here, there = comparable(ours), comparable(theirs)
    assert here.keys() == there.keys()
    for key, value in here.items():
        tolerance = 0.02 if key[2].startswith(("accuracy/", "recall/")) else 1e-5
        assert there[key] == pytest.approx(value, rel=rel, abs=tolerance), key
