"""How strongly each term pulls, and whether base and align pull together; measured on a sample of the steps.

grad/norm/<term> = ‖∇ term‖        grad/cosine = cos(∇L_b, ∇L_a)        over the weights both act on
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from equipoise.core.values import Losses

EVERY = 256
"""One of so many steps of the whole run: a backward pass per term costs about 1.5 % of the training then."""


def sampled(losses: Losses, params: Sequence[Tensor]) -> dict[str, float]:
    """Must be called before the graph is freed. Nothing for a single term: its norm is `grad/norm`, for free."""
    if losses.align is None and len(losses.parts) == 1:
        return {}
    terms = {**losses.parts} | ({} if losses.align is None else {"align": losses.align})
    grads = {name: _gradient(term, params) for name, term in terms.items()}
    numbers = {f"grad/norm/{name}": float(_total(grad) ** 0.5) for name, grad in grads.items()}
    if losses.align is not None:
        base = [sum(parts[1:], parts[0]) for parts in zip(*(grads[name] for name in losses.parts), strict=True)]
        numbers["grad/cosine"] = _cosine(base, grads["align"])
    return numbers


def _gradient(term: Tensor, params: Sequence[Tensor]) -> list[Tensor]:
    if not term.requires_grad:
        return [torch.zeros_like(param) for param in params]
    found = torch.autograd.grad(term, params, retain_graph=True, allow_unused=True)
    return [torch.zeros_like(param) if grad is None else grad for grad, param in zip(found, params, strict=True)]


def _total(grad: Sequence[Tensor]) -> float:
    return float(sum(float(part.square().sum()) for part in grad))


def _cosine(a: Sequence[Tensor], b: Sequence[Tensor]) -> float:
    """Over the weights that both reach; 0 where there are none."""
    shared = [(x, y) for x, y in zip(a, b, strict=True) if bool(x.any()) and bool(y.any())]
    product = sum(float((x * y).sum()) for x, y in shared)
    lengths = _total([x for x, _ in shared]) * _total([y for _, y in shared])
    return product / lengths**0.5 if lengths > 0 else 0.0
