from __future__ import annotations

import pytest
import torch

from equipoise.balance.policy import Balance, Learning, no_parameters
from equipoise.client.policy import gradients, leaves, norm, stepped
from equipoise.core.values import Weighed

POLICY = {"a": torch.tensor(1.0), "b": torch.tensor(-2.0)}
GRADS = {"a": torch.tensor(3.0), "b": torch.tensor(4.0)}  # of norm 5


def values(state) -> dict[str, float]:
    return {name: pytest.approx(value.item()) for name, value in state.items()}


def balance(learning: Learning | None) -> Balance:
    return Balance(no_parameters, lambda *_: Weighed(torch.tensor(0.0), None, lam=0.0), learning)


def test_two_steps_with_momentum_by_hand():
    learning = Learning(lr=0.1, momentum=0.5)
    once = stepped(POLICY, GRADS, learning, factor=1.0)
    assert values(once) == {"momentum/a": 3, "a": 1 - 0.3, "momentum/b": 4, "b": -2 - 0.4}
    twice = stepped(once, GRADS, learning, factor=1.0)
    assert values(twice) == {"momentum/a": 4.5, "a": 0.7 - 0.45, "momentum/b": 6, "b": -2.4 - 0.6}


@pytest.mark.parametrize(("clip", "factor"), [("none", 1.0), ("separate", 1 / 5), ("joint", 0.25)])
def test_only_a_joint_clip_multiplies_by_the_networks_factor(clip, factor):
    after = stepped(POLICY, GRADS, Learning(0.1, 0.0, clip), factor=0.25)
    assert values(after) == {
        "momentum/a": 3 * factor, "a": 1 - 0.3 * factor, "momentum/b": 4 * factor, "b": -2 - 0.4 * factor,
    }  # fmt: skip


@pytest.mark.parametrize("size", [0.0, 0.1, 0.99])
def test_a_small_gradient_is_not_clipped(size):
    after = stepped({"a": torch.tensor(0.0)}, {"a": torch.tensor(size)}, Learning(1.0, 0.0, "separate"), factor=0.5)
    assert after["a"].item() == pytest.approx(-size)


def test_a_policy_that_does_not_learn_stays():
    assert stepped(POLICY, {}, None, factor=0.5) is POLICY
    assert leaves(balance(None), POLICY) is POLICY


def test_parameters_are_leaves_and_momentum_is_not():
    given = {**POLICY, "momentum/a": torch.tensor(0.5)}
    found = leaves(balance(Learning(0.1)), given)
    assert {name for name, value in found.items() if value.requires_grad} == {"a", "b"}
    assert not given["a"].requires_grad


def test_the_gradient_is_of_the_policys_loss_by_its_own_parameters():
    policy = leaves(balance(Learning(0.1)), {**POLICY, "momentum/a": torch.tensor(0.5)})
    w = torch.tensor(7.0, requires_grad=True)
    weighed = Weighed(w * 2, policy["a"] ** 2 + 3 * policy["b"], lam=1.0)
    assert values(gradients(weighed, policy)) == {"a": 2, "b": 3}
    assert w.grad is None
    assert gradients(Weighed(w, None, lam=1.0), policy) == {}


def test_the_norm():
    assert norm(GRADS) == 5
