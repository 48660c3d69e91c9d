from __future__ import annotations

import pytest
import torch

from equipoise.models.heads import AnchorHead

A = torch.tensor([[1.0, 0.0], [-0.6, 0.8]])
F = torch.tensor([[3.0, 4.0], [0.0, -2.0]])  # z = (0.6, 0.8), (0, −1)


def test_logits_are_cosines_with_the_anchors_times_kappa():
    assert AnchorHead(A, 16.0)(F).flatten().tolist() == pytest.approx([16 * 0.6, 16 * (0.64 - 0.36), 0, -16 * 0.8])


def test_there_is_nothing_to_train_and_the_anchors_travel():
    head = AnchorHead(A, 16.0)
    assert list(head.parameters()) == []
    assert set(head.state_dict()) == {"anchors"}


def test_features_still_get_a_gradient():
    features = F.clone().requires_grad_()
    AnchorHead(A, 2.0)(features)[0, 0].backward()
    assert features.grad is not None
    # d(2·f₁/‖f‖)/df = 2·(1/5 − 9/125, −12/125) at (3, 4)
    assert features.grad[0].tolist() == pytest.approx([2 * (1 / 5 - 9 / 125), -2 * 12 / 125])


def test_it_keeps_a_copy_of_its_anchors():
    given = A.clone()
    head = AnchorHead(given, 1.0)
    given += 1
    assert torch.equal(head.anchors, A)
