"""What every engine promises: the numbers of the local one, to the last bit."""

from __future__ import annotations

import pytest

from equipoise.core.registry import ENGINES
from tests.conftest import assert_same, numbers, records, tiny

ONE = {"processes": ("engine=processes", "engine.workers=1"), "ray": ("engine=ray", "engine.workers=1")}
"""One worker is enough to leave this process; more of them are counted by `tests/unit/engine`."""
SET = ("data=synthetic", "data.train=90", "data.test=40", "data.limit=90", "data.test_limit=40", "model.width=4")


HERE = [name for name in ENGINES.names() if name != "flower"]
"""Machines need a server and shares of their data: tests/flower."""
NAMES = [pytest.param(name, marks=pytest.mark.ray) if name == "ray" else name for name in HERE]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_numbers_on_the_synthetic_set(name):
    """A network with BatchNorm, images with three channels, AdamW."""
    engines = (ONE.get(name, (f"engine={name}",)), ("engine=local",))
    ours, local = (records(tiny(*SET, "client.optimiser=adamw", *engine, model="resnet8")) for engine in engines)
    assert numbers(ours) == numbers(local)
    assert_same(ours[-1].snapshot.server.model, local[-1].snapshot.server.model)
