"""The λ policy's own optimiser step: SGD with momentum on its parameters, separate from the network's.

    m ← μ·m + ∇        θ ← θ − lr·m

The policy's loss is a function of its own parameters and detached losses, so its gradient never reaches the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from equipoise.balance.policy import Balance, Learning
from equipoise.core.numbers import precise, times
from equipoise.core.values import State, Weighed

if TYPE_CHECKING:
    from equipoise.core.numbers import Number


def leaves(balance: Balance, policy: State) -> State:
    """The parameters with gradients enabled; momentum and remembered numbers unchanged."""
    if balance.learning is None:
        return policy
    return {name: value if "/" in name else value.detach().requires_grad_() for name, value in policy.items()}


def gradients(weighed: Weighed, policy: State) -> dict[str, Tensor]:
    """∇ of the policy's loss with respect to its own parameters; empty for a policy that does not learn."""
    if weighed.policy is None:
        return {}
    names = [name for name in policy if "/" not in name]
    return dict(zip(names, torch.autograd.grad(weighed.policy, [policy[name] for name in names]), strict=True))


def stepped(policy: State, grads: Mapping[str, Tensor], learning: Learning | None, factor: Number) -> State:
    """The parameters after one step; `factor` is the network's clip factor, which applies only if the clip is joint."""
    if learning is None:
        return policy
    if learning.clip != "joint":
        factor = (1 / norm(grads).clamp_min(1e-12)).clamp_max(1) if learning.clip == "separate" else 1.0
    after: dict[str, Tensor] = {}
    for name, grad in grads.items():
        momentum = learning.momentum * policy.get(f"momentum/{name}", torch.zeros_like(grad)) + times(factor, grad)
        after |= {f"momentum/{name}": momentum, name: policy[name].detach() - learning.lr * momentum}
    return after


def norm(grads: Mapping[str, Tensor]) -> Tensor:
    return torch.stack([precise(grad.square().sum()) for grad in grads.values()]).sum().sqrt()
