from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from equipoise.core.registry import METHODS
from equipoise.method.fed3r import Fed3rOptions
from tests.unit.method.heads import C, head, samples


def fed3r(**options):
    return METHODS.find("fed3r").make(Fed3rOptions(**options))


@pytest.mark.parametrize("strength", [0.01, 5.0])
def test_it_is_a_ridge_without_intercept_with_columns_of_length_one(strength):
    x, labels = samples()
    found = head(fed3r(strength=strength), x, labels, torch.arange(len(x)) % 3)
    target = torch.nn.functional.one_hot(labels, C).double().numpy()
    expected = Ridge(alpha=strength, fit_intercept=False).fit(x.double().numpy(), target).coef_
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(found["head.weight"], expected, atol=1e-4)
    assert found["head.weight"].norm(dim=1).tolist() == pytest.approx([1] * C, abs=1e-5)


def test_half_precision_changes_little():
    x, labels = samples()
    full, half = (head(fed3r(send=send), x, labels)["head.weight"] for send in ("single", "half"))
    assert not torch.equal(full, half)
    assert torch.allclose(full, half, atol=0.02)
