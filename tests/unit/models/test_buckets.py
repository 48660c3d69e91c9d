from __future__ import annotations

import torch
from torch import nn

from equipoise.models.buckets import BucketHead, public_inputs, set_thresholds
from equipoise.models.classifier import Classifier
from equipoise.models.linear import linear
from equipoise.models.settings import LinearOptions


def head(levels: int = 2, group: int = 2, n_features: int = 2) -> BucketHead:
    found = BucketHead(n_features, 3, levels, group, 0)
    found.thresholds.copy_(torch.tensor([0.0, 1.0])[:levels].expand(n_features, levels))
    return found


def test_codes_by_hand():
    """Bits of (0.5, 2): φ_0 > 0, not > 1; φ_1 > 0, > 1."""
    mine = head()
    mine.order.copy_(torch.tensor([0, 1, 2, 3]))  # groups (0, 1) and (2, 3)
    found = mine.expanded(torch.tensor([[0.5, 2.0]]))
    assert found.tolist() == [[0, 1, 0, 0, 0, 0, 0, 1]]  # addresses 1 + 2·0 and 1 + 2·1


def test_looking_up_is_multiplying_by_the_codes():
    mine, x = head(n_features=5), torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        mine.weight.normal_(generator=torch.Generator().manual_seed(1))
        mine.bias.normal_(generator=torch.Generator().manual_seed(2))
    assert torch.allclose(mine(x), mine.expanded(x) @ mine.weight.T + mine.bias, atol=1e-6)
    assert (mine.expanded(x).sum(1) == 5).all()


def test_everybody_draws_the_same_order_and_every_bit_is_used():
    first, again, other = BucketHead(5, 3, 3, 4, 0), BucketHead(5, 3, 3, 4, 0), BucketHead(5, 3, 3, 4, 1)
    assert torch.equal(first.order, again.order)
    assert not torch.equal(first.order, other.order)
    assert set(first.order.tolist()) == set(range(15))
    assert len(first.order) == 16
    assert set(first.state_dict()) == {"weight", "bias", "thresholds"}


def test_thresholds_are_quantiles_of_public_inputs():
    model = linear(LinearOptions(), (4,), 3)
    model.head = BucketHead(4, 3, 3, 2, 0)
    set_thresholds(model, (4,))
    seen = public_inputs((4,))
    for level, share in enumerate((0.25, 0.5, 0.75)):
        assert torch.allclose((seen <= model.head.thresholds[:, level]).float().mean(0), torch.tensor(share), atol=0.1)
    assert model.training


def test_other_heads_have_none():
    model = Classifier(nn.Flatten(), 4, 3)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    set_thresholds(model, (4,))
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_public_inputs_have_the_shape_that_is_asked_for():
    assert public_inputs((3, 8, 10)).shape[1:] == (3, 8, 10)
    assert public_inputs((7,)).shape[1:] == (7,)
