from __future__ import annotations

from math import exp, log

import pytest
import torch
from torch import Tensor

from equipoise.objective.linear_softmax import linear_softmax


def numbers(by_window: bool) -> tuple[Tensor, ...]:
    """Three clients: states, tables, offsets, targets."""
    draw = torch.Generator().manual_seed(7)
    states, table = (torch.randn(*shape, generator=draw, dtype=torch.float64) for shape in ((3, 2, 5, 4), (3, 11, 4)))
    offset = torch.randn(*((3, 2, 11) if by_window else (3, 2, 5, 11)), generator=draw, dtype=torch.float64)
    return states, table, offset, torch.randint(0, 11, (3, 2, 5), generator=draw)


def written_out(states: Tensor, table: Tensor, offset: Tensor, targets: Tensor) -> Tensor:
    scores = states @ table.T + (offset[:, None] if offset.dim() == 2 else offset)
    return scores.logsumexp(-1) - scores.gather(-1, targets[..., None])[..., 0]


def test_by_hand():
    scores, target = torch.tensor([[[1.0, 2.0, 0.0]]]), torch.tensor([[1]])
    losses, hits = linear_softmax(torch.zeros(1, 1, 1), torch.zeros(3, 1), scores, target)
    assert losses.item() == pytest.approx(log(exp(1) + exp(2) + 1) - 2)
    assert hits.item() == 1
    assert linear_softmax(torch.zeros(1, 1, 1), torch.zeros(3, 1), scores, target - 1)[1].item() == 0
    assert linear_softmax(torch.ones(2, 3, 4), torch.ones(50, 4), torch.zeros(2, 50), target.expand(2, 3))[
        0
    ].mean().item() == pytest.approx(log(50))


def test_huge_scores_stay_finite():
    losses, _ = linear_softmax(
        torch.full((1, 1, 1), 1e4), torch.tensor([[1.0], [-1.0]]), torch.zeros(1, 2), torch.tensor([[0]])
    )
    assert losses.item() == 0


@pytest.mark.parametrize("by_window", [True, False])
def test_losses_and_gradients_are_those_of_the_scores_written_out(by_window: bool):
    *parts, targets = numbers(by_window)
    for client in range(3):
        own = [part[client].clone().requires_grad_() for part in parts]
        upstream = torch.linspace(-1, 2, 10, dtype=torch.float64).view(2, 5)
        found = torch.autograd.grad((linear_softmax(*own, targets[client])[0] * upstream).sum(), own)
        wanted = torch.autograd.grad((written_out(*own, targets[client]) * upstream).sum(), own)
        for one, other in zip(found, wanted, strict=True):
            assert torch.allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("by_window", [True, False])
def test_clients_along_an_axis_are_each_alone(by_window: bool):
    *parts, targets = numbers(by_window)
    stacked = [part.clone().requires_grad_() for part in parts]
    losses, hits = torch.vmap(linear_softmax)(*stacked, targets)
    losses.square().sum().backward()
    for client in range(3):
        own = [part[client].clone().requires_grad_() for part in parts]
        alone, hit = linear_softmax(*own, targets[client])
        alone.square().sum().backward()
        torch.testing.assert_close(losses[client], alone, rtol=1e-12, atol=1e-12)
        assert torch.equal(hits[client], hit)
        for together, one in zip(stacked, own, strict=True):
            assert torch.allclose(together.grad[client], one.grad, atol=1e-12)
