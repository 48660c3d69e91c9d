"""Anchors are a simplex for every number of classes that fits, and refused for every one that does not."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError
from equipoise.objective.anchors import anchors

QUICK = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**31)


@QUICK
@given(st.integers(2, 120), st.integers(-1, 200), seeds)
def test_the_gram_matrix(n_classes: int, more: int, seed: int) -> None:
    rows = anchors("etf", n_classes, n_classes + more, seed)
    ideal = (n_classes * torch.eye(n_classes) - 1) / (n_classes - 1)
    assert (rows @ rows.T - ideal).abs().max() < 1e-5


@QUICK
@given(st.integers(3, 120), st.integers(2, 120), seeds)
def test_a_simplex_that_does_not_fit(n_classes: int, fewer: int, seed: int) -> None:
    with pytest.raises(ConfigError):
        anchors("etf", n_classes, max(1, n_classes - fewer), seed)


@QUICK
@given(st.integers(1, 60), st.integers(1, 60), seeds)
def test_random_rows_have_length_one(n_classes: int, n_features: int, seed: int) -> None:
    assert (anchors("random", n_classes, n_features, seed).norm(dim=1) - 1).abs().max() < 1e-5
