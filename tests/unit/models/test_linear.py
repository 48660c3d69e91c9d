from __future__ import annotations

import torch

from equipoise.models.linear import linear
from equipoise.models.settings import LinearOptions


def test_features_are_the_inputs():
    model = linear(LinearOptions(), (3, 2, 2), 5)
    x = torch.arange(24.0).view(2, 3, 2, 2)
    found = model(x)
    assert torch.equal(found.features, x.flatten(1))
    assert found.logits.shape == (2, 5)
    assert list(model.state_dict()) == ["head.weight", "head.bias"]
