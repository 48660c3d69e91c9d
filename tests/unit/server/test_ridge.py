from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from equipoise.models.classifier import ModelOutput
from equipoise.server import ridge
from equipoise.server.ridge import STRENGTHS, applied, client_sums, concatenated, solved, sums
from tests.conftest import assert_same

from .views import own_samples

N, D, C = 40, 5, 3


@pytest.fixture
def data(rng) -> tuple[Tensor, Tensor]:
    """Features of very different size, far from zero, that tell the class in part."""
    labels = rng.integers(0, C, N)
    noisy = rng.standard_normal((N, D)) + 0.7 * np.eye(C, D)[labels]
    return torch.from_numpy(noisy * [1, 10, 0.01, 1, 100] + [0, 5, -3, 1, 0]), torch.from_numpy(labels)


def standardised(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(0)) / x.std(0)


def one_hot(labels: np.ndarray) -> np.ndarray:
    return np.eye(C)[labels]


def hat(x: np.ndarray, r: float) -> np.ndarray:
    """H with HY the fitted values: the mean, and the ridge on standardised features."""
    z = standardised(x)
    return np.full((len(x), len(x)), 1 / len(x)) + z @ np.linalg.solve(z.T @ z + r * np.eye(x.shape[1]), z.T)


def gcv(x: np.ndarray, y: np.ndarray, r: float) -> float:
    """RSS(r) / (1 − df(r)/n)², df the trace of the hat matrix."""
    h = hat(x, r)
    return float(np.square(y - h @ y).sum() / (1 - np.trace(h) / len(x)) ** 2)


def strengths(n: int) -> list[float]:
    """Each standardised column has Σ z² = n, so the mean eigenvalue of Ĝ is n."""
    return [n * 10.0 ** (half / 2) for half in range(-8, 5)]


def chosen(x: np.ndarray, y: np.ndarray) -> float:
    return min(strengths(len(x)), key=lambda r: gcv(x, y, r))


def test_the_strengths_are_halves_of_powers_of_ten():
    assert STRENGTHS.tolist() == pytest.approx([10.0 ** (half / 2) for half in range(-8, 5)])


def test_the_head_is_a_ridge_with_a_free_intercept_on_standardised_features(data):
    x, labels = data[0].numpy(), data[1].numpy()
    z, y = standardised(x), one_hot(labels)
    r = chosen(x, y)
    # ‖y − z·w − b‖² + r·‖w‖², as one least-squares problem with √r·I below the images and no penalty on b
    above, below = np.c_[z, np.ones(N)], np.c_[np.sqrt(r) * np.eye(D), np.zeros(D)]
    weights = np.linalg.lstsq(np.r_[above, below], np.r_[y, np.zeros((D, C))], rcond=None)[0]
    found = applied(solved([sums(*data, C)]), data[0])
    assert found.numpy() == pytest.approx(above @ weights, rel=1e-8, abs=1e-10)


def test_the_strength_minimises_the_score_computed_from_the_hat_matrix(data):
    x, labels = data[0].numpy(), data[1].numpy()
    y = one_hot(labels)
    fitted = applied(solved([sums(*data, C)]), data[0]).numpy()
    distance = {r: np.abs(fitted - hat(x, r) @ y).max() for r in strengths(N)}
    used = min(distance, key=lambda r: distance[r])
    assert distance[used] < 1e-9
    assert gcv(x, y, used) == min(gcv(x, y, r) for r in strengths(N))
    assert strengths(N)[0] < used < strengths(N)[-1]  # neither end of the list: there was something to choose


@pytest.mark.parametrize("draw", range(12))
def test_with_few_images_too_the_strength_is_the_one_with_the_least_score(draw):
    """Ten images and four features: the intercept's share of the degrees of freedom decides some of these."""
    random = np.random.default_rng(draw)
    labels = random.integers(0, C, 10)
    x = random.standard_normal((10, 4)) + 0.8 * np.eye(C, 4)[labels]
    fitted = applied(solved([sums(torch.from_numpy(x), torch.from_numpy(labels), C)]), torch.from_numpy(x)).numpy()
    y = one_hot(labels)
    assert fitted == pytest.approx(hat(x, chosen(x, y)) @ y, abs=1e-9)


def test_pure_noise_is_answered_with_more_strength_than_a_clear_pattern(rng):
    labels = torch.from_numpy(rng.integers(0, C, N))
    noise = torch.from_numpy(rng.standard_normal((N, D)))
    clear = noise / 100 + torch.eye(C, D, dtype=torch.float64)[labels]
    assert applied(solved([sums(clear, labels, C)]), clear).std(0).min() > 0.4
    assert applied(solved([sums(noise, labels, C)]), noise).std(0).max() < 0.2


def test_two_images_a_side_by_hand():
    # x = −1, −1, 1, 1 of classes 0, 0, 1, 1: Ĝ = n = 4, Ŝ = (−2, 2), the score grows with r, so r = 4·10⁻⁴
    head = solved([sums(torch.tensor([[-1.0], [-1.0], [1.0], [1.0]]), torch.tensor([0, 0, 1, 1]), 2)])
    w = 2 / (4 + 4e-4)
    assert head.flatten().tolist() == pytest.approx([-w, w, 1 / 2, 1 / 2])
    assert applied(head, torch.tensor([[0.5]])).flatten().tolist() == pytest.approx([0.5 - w / 2, 0.5 + w / 2])


def test_sums_by_hand():
    report = sums(torch.tensor([[1.0, 2.0], [3.0, 4.0], [0.0, 5.0]]), torch.tensor([2, 0, 2]), 3)
    assert report["gram"].tolist() == [[1 + 9, 2 + 12], [2 + 12, 4 + 16 + 25]]
    assert report["classes"].tolist() == [[3, 0, 1], [4, 0, 2 + 5]]
    assert report["features"].tolist() == [4, 11]
    assert report["counts"].tolist() == [1, 0, 2]
    assert {tensor.dtype for tensor in report.values()} == {torch.float64}


def test_a_client_sends_its_sums_in_single_precision_with_a_column_for_every_class_of_the_run():
    features = torch.tensor([[1.0, 2.0], [3.0, 4.0], [0.0, 5.0]])
    own = own_samples([ModelOutput(features, features)], [2, 0, 2], 4)
    expected = {name: tensor.float() for name, tensor in sums(features, torch.tensor([2, 0, 2]), 4).items()}
    assert_same(client_sums(features, own), expected)


def test_applied_is_a_product_and_a_bias():
    head = torch.tensor([[1.0, 2.0], [3.0, 4.0], [0.5, -0.5]], dtype=torch.float64)
    assert applied(head, torch.tensor([[10.0, 100.0]])).tolist() == [[10 + 300 + 0.5, 20 + 400 - 0.5]]


def test_encoders_side_by_side_each_of_length_one():
    found = concatenated([torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, -5.0]])])
    assert found.flatten().tolist() == pytest.approx([0.6, 0.8, 0, -1])


@pytest.mark.parametrize(
    ("features", "labels", "shares"),
    [
        ([[1.0, 2.0]], [1], [0, 1, 0]),  # one image
        ([[1.0, 2.0], [3.0, 0.0]], [2, 2], [0, 0, 1]),  # one class
        ([[7.0, 7.0]] * 4, [0, 0, 0, 1], [3 / 4, 1 / 4, 0]),  # images that cannot be told apart
    ],
)
def test_where_there_is_nothing_to_learn_the_answer_is_the_share_of_the_classes(features, labels, shares):
    head = solved([sums(torch.tensor(features), torch.tensor(labels), 3)])
    assert applied(head, torch.tensor([[5.0, -1.0]])).flatten().tolist() == pytest.approx(shares, abs=1e-6)


def test_a_feature_that_never_varies_takes_no_part(data):
    features, labels = data
    wider = torch.cat([features, torch.full((N, 1), 3.0)], 1)
    fitted = applied(solved([sums(wider, labels, C)]), wider).numpy()
    # it adds an eigenvalue of zero to the D others, so the mean that r is a share of is n·D/(D + 1)
    x, y = features.numpy(), one_hot(labels.numpy())
    expected = [hat(x, r * D / (D + 1)) @ y for r in strengths(N)]
    assert min(np.abs(fitted - one).max() for one in expected) < 1e-6


def test_nothing_that_was_given_is_changed(data):
    features, labels = data
    report = sums(features, labels, C)
    before = {name: tensor.clone() for name, tensor in report.items()}
    solved([report, report])
    assert all(torch.equal(report[name], before[name]) for name in before)


def test_the_same_sums_are_solved_once_and_only_the_newest_are_remembered(data, monkeypatch):
    features, labels = data
    monkeypatch.setattr(ridge, "_known", {})
    heads, solve = [], ridge.head_of
    monkeypatch.setattr(ridge, "head_of", lambda *totals: heads.append(solve(*totals)) or heads[-1])
    report = [sums(features[start:], labels[start:], C) for start in range(ridge.KEPT + 1)]
    for part in report[: ridge.KEPT]:
        assert torch.equal(solved([part]), solved([part]))
    assert len(heads) == ridge.KEPT
    assert torch.equal(solved([report[0]]), heads[0])
    solved([report[-1]])  # the second was asked for longest ago
    solved([report[0]])
    assert len(heads) == ridge.KEPT + 1
    assert torch.equal(solved([report[1]]), heads[1])
    assert len(heads) == ridge.KEPT + 2
    assert len(ridge._known) == ridge.KEPT


def test_sums_of_other_shapes_are_other_sums():
    """Zeros alone, as many in each."""
    zeros = [sums(torch.zeros(4, d), torch.zeros(4, dtype=torch.int64), c) for d, c in ((1, 5), (2, 2))]
    assert [tuple(solved([part]).shape) for part in zeros] == [(2, 5), (3, 2)]
