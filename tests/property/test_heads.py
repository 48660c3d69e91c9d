"""Any split of the samples over clients gives the same head in closed form."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.registry import METHODS
from equipoise.method.safle import SafleOptions, bucket_head
from tests.unit.method.heads import C, D, head, samples, scores

NAMES = ("afl", "fed3r", "fedcgs", "safle")


def buckets():
    found = bucket_head(SafleOptions(levels=2, group=2), D, C, 0)
    found.thresholds.copy_(torch.tensor([0.0, 1.5]).expand(D, 2))
    return found


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), clients=st.integers(1, 12))
def test_any_split_gives_the_same_head(name, seed, clients):
    x, labels = samples(80, seed)
    entry, own = METHODS.find(name), buckets()
    options = SafleOptions(levels=2, group=2) if name == "safle" else entry.options()
    owner = torch.randint(0, clients, (80,), generator=torch.Generator().manual_seed(seed + 1))
    together, apart = (head(entry.make(options), x, labels, who, own) for who in (None, owner))
    seen = own.expanded(x) if name == "safle" else x
    found, expected = scores(apart, seen), scores(together, seen)
    assert torch.allclose(found, expected, rtol=1e-3, atol=5e-3), (found - expected).abs().max()
