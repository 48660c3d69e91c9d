from __future__ import annotations

import pytest
import torch

from equipoise.client.gradients import sampled, unreached
from equipoise.core.values import Losses


def one_sampled(given, weights):
    align = None if given.align is None else given.align[None]
    cohort = Losses(given.base[None], align, {name: part[None] for name, part in given.parts.items()}, given.hit[None])
    return {name: values.item() for name, values in sampled(cohort, weights, is_stacked=False).items()}


def losses(parts, align=None) -> Losses:
    base = torch.stack(list(parts.values())).sum()
    return Losses(base, align, parts, torch.tensor(0.0))


@pytest.fixture
def weights() -> list[torch.Tensor]:
    return [torch.tensor([3.0, 4.0], requires_grad=True), torch.tensor([2.0], requires_grad=True)]


def test_norms_and_cosine_by_hand(weights):
    x, y = weights
    parts = {"cls": x.square().sum() / 2, "con": 5 * y.sum()}  # (3, 4 | 0) and (0, 0 | 5)
    found = one_sampled(losses(parts, align=x[0] + y.square().sum()), weights)  # (1, 0 | 4)
    assert found == {
        "grad/norm/cls": pytest.approx(5),
        "grad/norm/con": pytest.approx(5),
        "grad/norm/align": pytest.approx(17**0.5),
        "grad/cosine": pytest.approx((3 * 1 + 5 * 4) / (50**0.5 * 17**0.5)),
    }


def test_the_cosine_is_over_the_weights_that_both_reach(weights):
    x, y = weights
    found = one_sampled(losses({"cls": x.square().sum() / 2 + 100 * y.sum()}, align=-x[1]), weights)
    assert found["grad/cosine"] == pytest.approx(-4 / 5)  # y is base's alone


def test_terms_that_share_no_weight_have_no_angle(weights):
    x, y = weights
    assert one_sampled(losses({"cls": x.sum()}, align=y.sum()), weights)["grad/cosine"] == 0


def test_a_dead_term_pulls_with_nothing(weights):
    x, _ = weights
    found = one_sampled(losses({"cls": x.sum(), "dead": torch.tensor(3.0)}, align=torch.tensor(0.5)), weights)
    assert found == {
        "grad/norm/cls": pytest.approx(2**0.5),
        "grad/norm/dead": 0,
        "grad/norm/align": 0,
        "grad/cosine": 0,
    }


def test_without_alignment_there_is_no_cosine(weights):
    parts = {"cls": weights[0].sum(), "con": weights[1].sum()}
    assert set(one_sampled(losses(parts), weights)) == {"grad/norm/cls", "grad/norm/con"}


def test_a_term_alone_costs_no_backward_pass_of_its_own(weights):
    assert one_sampled(losses({"cls": weights[0].sum()}), weights) == {}


def test_the_graph_can_still_be_used_and_no_gradient_is_left(weights):
    given = losses({"cls": weights[0].square().sum()}, align=weights[0].sum())
    one_sampled(given, weights)
    assert [w.grad for w in weights] == [None, None]
    (given.base + given.align).backward()
    assert weights[0].grad.tolist() == [2 * 3 + 1, 2 * 4 + 1]


def test_a_weight_with_a_gradient_of_nothing_is_reached_and_one_without_a_gradient_is_not(weights):
    leaves = {"read": weights[0], "gate": weights[1], "frozen": torch.zeros(5)}
    (0 * weights[0]).sum().backward()
    assert unreached(leaves, leaves) == ["gate"]
    weights[1].sum().backward()
    assert unreached(["gate"], leaves) == []
