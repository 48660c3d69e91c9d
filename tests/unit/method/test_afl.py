from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from equipoise.core.registry import METHODS
from equipoise.method.afl import AflOptions, own_solution
from tests.unit.method.heads import C, D, OneClient, head, samples


def afl(**options: float):
    return METHODS.find("afl").make(AflOptions(**options))


def one_hot(labels: torch.Tensor) -> np.ndarray:
    return torch.nn.functional.one_hot(labels, C).double().numpy()


def owners(n: int, k: int) -> torch.Tensor:
    return torch.randint(0, k, (n,), generator=torch.Generator().manual_seed(k))


@pytest.mark.parametrize("clients", [1, 3, 20])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
def test_the_merged_head_is_the_least_squares_of_all_samples(clients, gamma):
    """Twenty clients have three samples each, fewer than the six features."""
    x, labels = samples()
    found = head(afl(gamma=gamma), x, labels, owners(len(x), clients))
    expected = np.linalg.lstsq(x.double().numpy(), one_hot(labels), rcond=None)[0]
    assert np.allclose(found["head.weight"].T, expected, atol=2e-4)
    assert found["head.bias"].tolist() == [0] * C


@pytest.mark.parametrize("strength", [0.1, 10.0])
def test_what_is_left_of_a_ridge_is_the_ridge_of_all_samples(strength):
    x, labels = samples()
    found = head(afl(strength=strength), x, labels, owners(len(x), 4))
    expected = Ridge(alpha=strength, fit_intercept=False).fit(x.double().numpy(), one_hot(labels)).coef_
    assert np.allclose(found["head.weight"], expected, atol=1e-4)


def test_a_client_sends_its_own_ridge_and_its_matrix():
    x, labels = samples(8)
    sent = own_solution(AflOptions(gamma=2.0), OneClient(x, labels))
    gram = x.double().T @ x.double() + 2 * torch.eye(D)
    assert sent.keys() == {"gram", "solution", "counts"}
    expected = np.linalg.solve(gram.numpy(), x.double().numpy().T @ one_hot(labels))
    assert np.allclose(sent["solution"], expected, atol=1e-4)


def test_the_law_applied_to_one_client_after_another_gives_the_same():
    """As published: with C the sum so far, Ŵ ← (I − C⁻¹C_k + C⁻¹C_k(C + C_k)⁻¹C_k)·Ŵ + (I − C_k⁻¹C + …)·Ŵ_k."""
    x, labels = samples()
    owner, gamma, eye = owners(len(x), 5), 1.0, np.eye(D)
    parts = [(x[owner == k].double().numpy(), one_hot(labels[owner == k])) for k in range(5)]
    matrices = [a.T @ a + gamma * eye for a, _ in parts]
    own = [np.linalg.solve(m, a.T @ b) for m, (a, b) in zip(matrices, parts, strict=True)]
    so_far, merged = matrices[0], own[0]
    for c_k, w_k in zip(matrices[1:], own[1:], strict=True):
        weights = []
        for mine, other in ((so_far, c_k), (c_k, so_far)):
            share = np.linalg.solve(mine, other)
            weights.append(eye - share + share @ np.linalg.solve(mine + other, other))
        merged, so_far = weights[0] @ merged + weights[1] @ w_k, so_far + c_k
    clean = np.linalg.solve(so_far - 5 * gamma * eye, so_far @ merged)
    assert np.allclose(head(afl(gamma=gamma), x, labels, owner)["head.weight"].T, clean, atol=1e-4)


def test_copies_of_a_feature_share_its_weight():
    x, labels = samples()
    x[:, 1] = x[:, 0]
    found = head(afl(), x, labels, owners(len(x), 3))["head.weight"]
    assert found.isfinite().all()
    assert torch.allclose(found[:, 0], found[:, 1], atol=1e-4)
