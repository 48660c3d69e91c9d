"""What every engine promises: the numbers of the local one, to the last bit."""

from __future__ import annotations

import pytest

from equipoise.core.registry import ENGINES
from tests.conftest import assert_same, numbers, records, tiny

SET = ("data=synthetic", "data.train=90", "data.test=40", "data.limit=90", "data.test_limit=40", "model.width=4")


@pytest.mark.parametrize("name", ENGINES.names())
def test_the_same_numbers_on_the_synthetic_set(name):
    """A network with BatchNorm, images with three channels, AdamW."""
    ours, local = (
        records(tiny(*SET, "client.optimiser=adamw", f"engine={e}", model="resnet8")) for e in (name, "local")
    )
    assert numbers(ours) == numbers(local)
    assert_same(ours[-1].snapshot.server.model, local[-1].snapshot.server.model)
