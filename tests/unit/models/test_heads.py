from __future__ import annotations

import pytest
import torch

from equipoise.core.registry import METHODS
from equipoise.models.build import build_model, state_of
from equipoise.models.heads import PrototypeHead, gaussian_prototypes
from equipoise.models.mlp import MlpOptions
from equipoise.objective.anchors import anchors

P = torch.tensor([[2.0, 0.0], [0.0, -3.0]])
A = torch.eye(2)
F = torch.tensor([[3.0, 4.0]])  # z = (0.6, 0.8)


def test_dot_logits_use_the_features_direction_and_the_prototypes_as_they_are():
    assert PrototypeHead(P, A, None)(F).flatten().tolist() == pytest.approx([2 * 0.6, -3 * 0.8])


def test_cosine_logits_use_both_directions():
    assert PrototypeHead(P, A, 16.0)(F).flatten().tolist() == pytest.approx([16 * 0.6, -16 * 0.8])


def test_anchors_travel_but_are_not_trained():
    head = PrototypeHead(P, A, None)
    assert [name for name, _ in head.named_parameters()] == ["prototypes"]
    assert set(head.state_dict()) == {"prototypes", "anchors"}


def test_a_head_started_at_the_anchors_does_not_share_their_memory():
    head = PrototypeHead(A, A, None)
    with torch.no_grad():
        head.prototypes += 1
    assert torch.equal(head.anchors, torch.eye(2))
    assert torch.equal(A, torch.eye(2))


def test_gaussian_rows_are_about_as_long_as_the_root_of_their_size(seed):
    rows = gaussian_prototypes(200, 64, seed)
    assert torch.equal(rows, gaussian_prototypes(200, 64, seed))
    assert not torch.equal(rows, gaussian_prototypes(200, 64, seed + 1))
    assert rows.norm(dim=1).mean().item() == pytest.approx(8, rel=0.02)
    assert (rows.mean().item(), rows.std().item()) == pytest.approx((0, 1), abs=0.02)


def head_state(**options):
    entry = METHODS.find("etf-align")
    head = entry.make(entry.options(name="etf-align", **options)).head
    return state_of(build_model(MlpOptions(hidden=16), (3, 4, 4), 5, 3, head))


def test_prototypes_start_as_gauss_or_at_the_anchors():
    gauss, anchor = head_state(start="gauss"), head_state(start="anchor")
    fixed = anchors("etf", 5, 16, 3)
    for state in (gauss, anchor):
        assert torch.equal(state["head.anchors"], fixed)
        assert torch.equal(state["encoder.1.weight"], gauss["encoder.1.weight"])  # the encoder starts the same
    assert torch.equal(anchor["head.prototypes"], fixed)
    assert gauss["head.prototypes"].norm(dim=1).min() > 2


def test_a_model_with_a_linear_head_starts_the_same_as_before_there_were_others():
    plain = state_of(build_model(MlpOptions(hidden=16), (3, 4, 4), 5, 3))
    assert torch.equal(plain["encoder.1.weight"], head_state()["encoder.1.weight"])
    assert {name for name in plain if name.startswith("head.")} == {"head.weight", "head.bias"}
