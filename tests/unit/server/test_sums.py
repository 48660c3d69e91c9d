from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.server import sums as sums_module
from equipoise.server.ridge import STRENGTHS, About, by_eigenvalues, by_factors, head_of
from equipoise.server.sums import added_up, gram_entries, received, sent, whole


@pytest.fixture(autouse=True)
def small_strips(monkeypatch):
    """Several strips and several pieces also of small matrices."""
    monkeypatch.setattr(sums_module, "STRIP", 3)
    monkeypatch.setattr(sums_module, "ROWS", 4)


def samples(n: int, features: int, n_classes: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(n, features, generator=draw), torch.randint(0, n_classes, (n,), generator=draw)


def test_sums_in_pieces_are_the_products_of_all_samples():
    x, labels = samples(10, 7, 3)
    found = added_up([(x[:2], labels[:2]), (x[2:9], labels[2:9]), (x[9:], labels[9:])], 3)
    gram, own = whole(found["gram"], 0, 7, 1)
    assert own == slice(0, 7)
    assert torch.allclose(gram, x.T.double() @ x.double(), atol=1e-5)
    one_hot = torch.nn.functional.one_hot(labels, 3).double()
    assert torch.allclose(found["classes"], x.T.double() @ one_hot, atol=1e-5)
    assert found["counts"].tolist() == one_hot.sum(0).tolist()
    assert torch.allclose(found["features"], x.double().sum(0), atol=1e-5)


def test_half_of_the_matrix_is_sent():
    """Strips of 3 rows of 7 columns: 3·7 + 3·4 + 1·1."""
    assert gram_entries(7) == 3 * 7 + 3 * 4 + 1 * 1
    x, labels = samples(5, 7, 2)
    assert sent(added_up([(x, labels)], 2), "single")["gram"].shape == (34,)


def test_parts_send_products_within_a_part_only():
    """Two parts of 4 and 3 features: 3·4 + 1·1, and 3·3."""
    assert gram_entries(7, parts=2) == 3 * 4 + 1 + 3 * 3
    x, labels = samples(5, 7, 2)
    found = added_up([(x, labels)], 2, parts=2)
    second, own = whole(found["gram"], 1, 7, 2)
    assert own == slice(4, 7)
    assert torch.allclose(second, x[:, 4:].T.double() @ x[:, 4:].double(), atol=1e-5)


@pytest.mark.parametrize("parts", [1, 2])
def test_half_precision_keeps_its_bound(parts):
    x, labels = samples(200, 7, 2)
    exact = added_up([(1000 * x, labels)], 2, parts)
    report = sent(exact, "half", parts)
    assert report["gram"].dtype == torch.float16
    back = received(report, parts)
    for part in range(parts):
        true, _ = whole(exact["gram"], part, 7, parts)
        found, _ = whole(back["gram"], part, 7, parts)
        lengths = true.diagonal().sqrt()
        assert bool(((found - true).abs() <= 2**-11 * 1.001 * torch.outer(lengths, lengths)).all())


def test_a_feature_that_is_always_zero_survives_half_precision():
    x, labels = samples(20, 4, 2)
    x[:, 1] = 0
    back = received(sent(added_up([(x, labels)], 2), "half"))
    gram, _ = whole(back["gram"], 0, 4, 1)
    assert gram.isfinite().all()
    assert gram[1].tolist() == [0, 0, 0, 0]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_any_split_gives_the_same_head(seed, clients):
    x, labels = samples(60, 5, 3, seed)
    owner = torch.randint(0, clients, (60,), generator=torch.Generator().manual_seed(seed + 1))
    parts = [
        received(sent(added_up([(x[owner == k], labels[owner == k])], 3), "single"))
        for k in range(clients)
        if (owner == k).any()
    ]
    total = {name: torch.stack([part[name] for part in parts]).sum(0) for name in parts[0]}
    alone = added_up([(x, labels)], 3)
    heads = [
        head_of(whole(one["gram"], 0, 5, 1)[0], one["classes"], one["features"], one["counts"])
        for one in (total, alone)
    ]
    assert torch.allclose(*heads, atol=1e-4)


def test_factors_and_eigenvalues_give_the_same_head():
    x, labels = samples(400, 30, 4)
    y = torch.nn.functional.one_hot(labels, 4).double()
    x = torch.cat([x[:, :4] + y.float(), x[:, 4:]], 1).double()
    x, y = x - x.mean(0), y - y.mean(0)
    gram = x.T @ x
    strengths = [float(r) for r in STRENGTHS * gram.trace() / 30]
    given = gram, x.T @ y, About(float(y.square().sum()), 400.0, strengths)
    assert torch.allclose(by_eigenvalues(*given), by_factors(*given), atol=1e-8)


def test_a_singular_gram_matrix_has_a_head_and_a_constant_feature_no_weight():
    x, labels = samples(50, 3, 2)
    x = torch.cat([x, x[:, :1], torch.full((50, 1), 5.0)], 1)  # a copy, and a constant
    found = added_up([(x, labels)], 2)
    head = head_of(whole(found["gram"], 0, 5, 1)[0], found["classes"], found["features"], found["counts"])
    assert head.isfinite().all()
    assert head[4].tolist() == [0.0, 0.0]
    assert torch.allclose(head[0], head[3], atol=1e-6)


def test_large_means_cost_a_client_no_digits():
    """Features at 1000 ± 1: products of their values in single precision would keep no digit of what they vary by."""
    x, labels = samples(300, 6, 3)
    found = added_up([(x[:100] + 1000, labels[:100]), (x[100:] + 1000, labels[100:])], 3)
    gram, m = whole(found["gram"], 0, 6, 1)[0], found["features"]
    near = x.double() - x.double().mean(0)
    assert torch.allclose(gram - torch.outer(m, m) / 300, near.T @ near, rtol=1e-3, atol=1e-2)


def test_a_constant_gets_no_weight_after_rounding():
    x, labels = samples(300, 3, 2)
    x = torch.cat([x, torch.full((300, 1), 0.1)], 1)
    halves = [received(sent(added_up([(x[half], labels[half])], 2), "single")) for half in (slice(90), slice(90, 300))]
    total = {name: halves[0][name] + halves[1][name] for name in halves[0]}
    head = head_of(whole(total["gram"], 0, 4, 1)[0], total["classes"], total["features"], total["counts"])
    assert head[3].tolist() == [0.0, 0.0]


def test_more_features_than_samples_are_told_apart_in_both_precisions():
    """Interpolation leaves nothing over: strengths below what rounding moves eigenvalues by would be noise."""
    draw = torch.Generator().manual_seed(3)
    labels = torch.arange(80) % 2
    x = torch.randn(80, 120, generator=draw) + 2 * (labels[:, None] * 2 - 1) * (torch.arange(120) < 20) + 30
    for precision, rounding in (("single", 2.0**-24), ("half", 2.0**-11)):
        found = received(sent(added_up([(x[:40], labels[:40])], 2), precision))
        head = head_of(
            whole(found["gram"], 0, 120, 1)[0], found["classes"], found["features"], found["counts"], rounding
        )
        scores = x[40:].double() @ head[:-1] + head[-1]
        assert (scores.argmax(1) == labels[40:]).float().mean() > 0.9
