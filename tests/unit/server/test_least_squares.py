from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.server.least_squares import EXACT, ridge
from equipoise.server.packing import packed
from equipoise.server.sums import whole


def problem(n: int, d: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return (torch.randn(n, size, generator=draw, dtype=torch.float64) for size in (d, 3))


def test_a_regular_problem_by_hand():
    """(diag(4, 9) + 1)⁻¹ (5, 20) = (1, 2)."""
    found = ridge(torch.diag(torch.tensor([4.0, 9.0]).double()), torch.tensor([[5.0], [20.0]]).double(), 1.0)
    assert found.flatten().tolist() == pytest.approx([1, 2])


@pytest.mark.parametrize("strength", [0.0, 0.3])
def test_it_is_least_squares_or_ridge(strength):
    x, y = problem(40, 6)
    rows = torch.cat([x, strength**0.5 * torch.eye(6).double()])
    expected = np.linalg.lstsq(rows.numpy(), torch.cat([y, torch.zeros(6, 3)]).numpy(), rcond=None)[0]
    assert np.allclose(ridge(x.T @ x, x.T @ y, strength), expected)


@pytest.mark.parametrize("kind", ["fewer samples than features", "copies", "a constant feature of 0"])
def test_a_singular_problem_has_the_solution_of_least_norm(kind):
    x, y = problem(5 if kind.startswith("fewer") else 40, 8)
    if kind == "copies":
        x[:, 1] = x[:, 0]
    if kind.startswith("a constant"):
        x[:, 1] = 0
    expected = np.linalg.lstsq(x.numpy(), y.numpy(), rcond=None)[0]
    assert np.allclose(ridge(x.T @ x, x.T @ y), expected, atol=1e-6)


def test_sums_that_have_not_travelled_are_trusted_to_the_last_bit():
    """A direction of a ten-millionth: noise in single precision, solved in double."""
    gram, target = torch.diag(torch.tensor([1.0, 1e-8]).double()), torch.ones(2, 1).double()
    assert ridge(gram, target).flatten().tolist() == pytest.approx([1, 0])
    assert ridge(gram, target, epsilon=EXACT).flatten().tolist() == pytest.approx([1, 1e8])


def test_what_is_packed_is_whole_again():
    x, _ = problem(9, 7)
    gram = x.T @ x + (x.T @ x).T  # the same to the last bit on both sides of the diagonal
    assert torch.equal(whole(packed(gram), 0, 7, 1)[0], gram)
