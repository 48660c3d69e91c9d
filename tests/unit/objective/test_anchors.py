from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.core.streams import stream
from equipoise.objective.anchors import anchors


def gram_error(rows: torch.Tensor) -> float:
    """Largest distance of ⟨a_c, a_j⟩ from (C·δ_cj − 1)/(C − 1)."""
    n_classes = len(rows)
    ideal = (n_classes * torch.eye(n_classes) - 1) / (n_classes - 1)
    return (rows @ rows.T - ideal).abs().max().item()


@pytest.mark.parametrize(
    ("n_classes", "n_features"), [(2, 1), (2, 512), (3, 2), (10, 9), (10, 64), (100, 99), (100, 128), (200, 512)]
)
def test_every_two_classes_at_the_same_angle(n_classes, n_features, seed):
    found = anchors("etf", n_classes, n_features, seed)
    assert found.shape == (n_classes, n_features)
    assert found.dtype == torch.float32
    assert gram_error(found) < 1e-5


@pytest.mark.parametrize("kind", ["etf", "random"])
def test_rows_have_length_one(kind, seed):
    lengths = anchors(kind, 10, 12, seed).norm(dim=1)
    assert torch.allclose(lengths, torch.ones(10), atol=1e-6)


@pytest.mark.parametrize("kind", ["etf", "random"])
def test_they_are_drawn_from_the_runs_seed(kind, seed):
    first = anchors(kind, 5, 8, seed)
    assert torch.equal(first, anchors(kind, 5, 8, seed))
    assert not torch.allclose(first, anchors(kind, 5, 8, seed + 1))


def test_random_directions_are_no_simplex(seed):
    assert gram_error(anchors("random", 10, 64, seed)) > 0.1
    assert anchors("random", 10, 3, seed).shape == (10, 3)  # and fit into any size


def test_too_few_features_is_an_error_that_names_the_ways_out(seed):
    with pytest.raises(
        ConfigError, match="10 classes need features of size 9 or more for ETF anchors, got 8"
    ) as caught:
        anchors("etf", 10, 8, seed)
    assert "larger width" in caught.value.fix
    assert "model.projector=10" in caught.value.fix


def test_one_class_is_a_direction(seed):
    assert anchors("etf", 1, 4, seed).norm().item() == pytest.approx(1)


def test_the_simplex_of_three_classes_by_hand():
    """Helmert's columns for C = 3 are (1, −1, 0)/√2 and (1, 1, −2)/√6; rows are scaled to 1 and turned by Q."""
    gaussian = stream(0, "anchors", "etf").standard_normal((2, 3)).T
    first = gaussian[0] / np.linalg.norm(gaussian[0])
    rest = gaussian[1] - (gaussian[1] @ first) * first
    second = rest / np.linalg.norm(rest)  # Gram and Schmidt: R has a positive diagonal
    corners = np.array([[1 / 2**0.5, 1 / 6**0.5], [-1 / 2**0.5, 1 / 6**0.5], [0, -2 / 6**0.5]])
    rows = corners @ np.stack([first, second])
    expected = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert torch.allclose(anchors("etf", 3, 2, 0), torch.from_numpy(expected).float(), atol=1e-6)
