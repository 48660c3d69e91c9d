"""Local optimisers as functions on named tensors.

    sgd:    g ← ∇ + wd·w      m ← μ·m + g                       w ← w − lr·m
    adamw:  w ← w − lr·wd·w   m ← β₁m + (1−β₁)∇  v ← β₂v + (1−β₂)∇²   w ← w − lr·(m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε)

The arithmetic is torch.optim's. Ours keeps its buffers as a plain state, so that a client can be saved and restored,
works unchanged on weights with a leading client axis, and starts a second faster (torch.optim loads the compiler).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import torch
from torch import Tensor

from equipoise.config.blocks import ClientOptions
from equipoise.core.values import State

BETA2, EPSILON = 0.999, 1e-8
STEPS = "steps/"
ON_CPU = {STEPS}
"""Buffers that stay on the CPU where one client trains alone: reading a count must not wait for the device."""


def start_buffers(params: Mapping[str, Tensor], options: ClientOptions) -> dict[str, Tensor]:
    """Zero buffers, in the memory layout of their weights: "momentum/head.weight" … SGD without momentum has none."""
    kinds = ["momentum"] * (options.momentum > 0) if options.optimiser == "sgd" else ["momentum", "square"]
    buffers = {f"{kind}/{name}": torch.zeros_like(param) for kind in kinds for name, param in params.items()}
    return buffers | ({} if options.optimiser == "sgd" else {STEPS: torch.zeros(())})


def restored(saved: State, fresh: dict[str, Tensor]) -> dict[str, Tensor]:
    """Saved buffers, laid out like fresh ones: a step on another layout may round differently.

    A stage that trains other weights than the one before starts with fresh buffers.
    """
    if saved.keys() != fresh.keys():
        return fresh
    return {name: buffer.copy_(saved[name]) for name, buffer in fresh.items()}


@torch.no_grad()
def descend(
    params: Mapping[str, Tensor], buffers: dict[str, Tensor], options: ClientOptions, tables: Collection[str] = ()
) -> None:
    """One step along the gradients stored on the weights; weights and buffers change in place.

    Weights may have a leading client axis; then `steps/` has one number per client. Tables of items do not decay: the
    row of an item that the client never met would shrink for no reason.
    """
    fading = [name for name in params if name not in tables] if options.weight_decay else []
    (_sgd if options.optimiser == "sgd" else _adamw)(params, buffers, options, fading)


Clipped = tuple[Tensor, Tensor]
"""The norms of the clients' gradients, and the factors that clipping multiplied them by."""


def clipped(params: Sequence[Tensor], own: Sequence[State], clip: float | None, joint: bool) -> Clipped:
    """Clip the gradient of one client's network.

    With a joint clip the norm includes the policy's own gradients, as in the first report.
    """
    norm = torch.nn.utils.get_total_norm([param.grad for param in params if param.grad is not None])
    if clip is None:
        return norm[None], torch.ones_like(norm)[None]
    total = torch.stack([norm, *own[0].values()]).norm() if joint else norm
    torch.nn.utils.clip_grads_with_norm_(params, clip, total)
    return norm[None], (clip / (total[None] + 1e-6)).clamp_max(1)


def each_clipped(params: Sequence[Tensor], own: Sequence[State], clip: float | None, joint: bool) -> Clipped:
    """The same for weights with a leading client axis: every client by its own norm."""
    grads = [param.grad for param in params if param.grad is not None]
    norms = torch.stack([grad.reshape(len(grad), -1).norm(dim=1) for grad in grads]).norm(dim=0)
    if clip is None:
        return norms, torch.ones_like(norms)
    totals = norms
    if joint:
        totals = torch.stack(
            [torch.stack([norm, *each.values()]).norm() for norm, each in zip(norms, own, strict=True)]
        )
    factors = (clip / (totals + 1e-6)).clamp_max(1)
    for grad in grads:
        grad.mul_(factors.view(-1, *[1] * (grad.ndim - 1)))
    return norms, factors


def _sgd(params: Mapping[str, Tensor], buffers: dict[str, Tensor], options: ClientOptions, fading: list[str]) -> None:
    weights, grads = list(params.values()), _grads(params)
    if fading:
        pull = [params[name] if name in fading else params[name].new_zeros(()) for name in params]
        grads = [grad.add(weight, alpha=options.weight_decay) for grad, weight in zip(grads, pull, strict=True)]
    if options.momentum > 0:
        momentum = [buffers[f"momentum/{name}"] for name in params]
        torch._foreach_mul_(momentum, options.momentum)
        torch._foreach_add_(momentum, grads)
        grads = momentum
    torch._foreach_add_(weights, grads, alpha=-options.lr)


def _adamw(params: Mapping[str, Tensor], buffers: dict[str, Tensor], options: ClientOptions, fading: list[str]) -> None:
    weights, grads, beta1 = list(params.values()), _grads(params), options.momentum
    momentum, square = ([buffers[f"{kind}/{name}"] for name in params] for kind in ("momentum", "square"))
    t = buffers[STEPS].add_(1)
    if fading:
        torch._foreach_mul_([params[name] for name in fading], 1 - options.lr * options.weight_decay)
    torch._foreach_lerp_(momentum, grads, 1 - beta1)
    torch._foreach_mul_(square, BETA2)
    torch._foreach_addcmul_(square, grads, grads, 1 - BETA2)
    scale = torch._foreach_sqrt(square)
    if t.ndim == 0:
        torch._foreach_div_(scale, (1 - BETA2 ** t.item()) ** 0.5)
        torch._foreach_add_(scale, EPSILON)
        torch._foreach_addcdiv_(weights, momentum, scale, -options.lr / (1 - beta1 ** t.item()))
        return
    for weight, moving, spread in zip(weights, momentum, scale, strict=True):
        when = t.view(-1, *[1] * (weight.ndim - 1))
        spread.div_((1 - BETA2**when).sqrt()).add_(EPSILON)
        weight.sub_(options.lr / (1 - beta1**when) * moving / spread)


def _grads(params: Mapping[str, Tensor]) -> list[Tensor]:
    """The gradients, zero for a weight that was not used."""
    return [torch.zeros_like(param) if param.grad is None else param.grad for param in params.values()]
