from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from equipoise.core.registry import METHODS
from equipoise.method.fedcgs import FedcgsOptions
from tests.unit.method.heads import C, head, samples, scores


def fedcgs(**options):
    return METHODS.find("fedcgs").make(FedcgsOptions(**options))


def uneven() -> tuple[torch.Tensor, torch.Tensor]:
    """Classes with 15, 10, 7 and 5 samples."""
    x, labels = samples()
    kept = torch.cat([(labels == c).nonzero()[: (15, 10, 7, 5)[c]].flatten() for c in range(C)])
    return x[kept], labels[kept]


def test_within_is_linear_discriminant_analysis():
    x, labels = uneven()
    found = head(fedcgs(covariance="within"), x, labels, torch.arange(len(x)) % 3)
    known = LinearDiscriminantAnalysis(solver="lsqr").fit(x.double().numpy(), labels.numpy())
    assert np.allclose(found["head.weight"], known.coef_, atol=1e-3)
    assert np.allclose(found["head.bias"], known.intercept_, atol=1e-3)


def test_total_is_the_formula_as_published():
    x, labels = uneven()
    found = head(fedcgs(), x, labels, torch.arange(len(x)) % 3)
    rows = x.double().numpy()
    inverse = np.linalg.inv(np.cov(rows.T))
    for c in range(C):
        mean = rows[labels.numpy() == c].mean(0)
        weight, bias = inverse @ mean, -mean @ inverse @ mean / 2 + np.log((labels == c).double().mean().item())
        assert np.allclose(found["head.weight"][c], weight, atol=1e-3)
        assert found["head.bias"][c] == pytest.approx(bias, abs=1e-3)


@pytest.mark.parametrize("covariance", ["total", "within"])
def test_predictions_do_not_change_when_features_are_rescaled(covariance):
    x, labels = uneven()
    scale = torch.tensor([1.0, 10.0, 0.1, 3.0, 1.0, 7.0])
    plain, other = (scores(head(fedcgs(covariance=covariance), z, labels), z) for z in (x, x * scale))
    assert torch.allclose(plain, other, atol=1e-2)


def test_a_singular_covariance_has_a_head():
    x, labels = uneven()
    x[:, 1], x[:, 2] = x[:, 0], 3.0
    found = head(fedcgs(covariance="within"), x, labels)
    assert found["head.weight"].isfinite().all()
    assert (scores(found, x).argmax(1) == labels).double().mean() > 0.7
