"""Gradient norms per term, the cosine between base and align, and weights that no loss depends on.

    grad/norm/<term> = ‖∇ term‖        grad/cosine = cos(∇L_b, ∇L_a) over the weights both act on
    grad/unreached/<weight> = 1 for a weight that is trained, and that no loss depended on at any step

The first two are measured on a sample of the steps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import torch
from torch import Tensor

from equipoise.core.numbers import precise
from equipoise.core.values import Losses

EVERY = 256
"""Every n-th step of the run is sampled; the extra backward passes then cost about 1.5 % of the training."""


def sampled(losses: Losses, params: Sequence[Tensor], is_stacked: bool) -> dict[str, Tensor]:
    """One number per client. Must be called before the graph is freed.

    Empty for a single term: its norm is `grad/norm`, which costs nothing extra.
    """
    if losses.align is None and len(losses.parts) == 1:
        return {}
    terms = {**losses.parts} | ({} if losses.align is None else {"align": losses.align})
    grads = {name: _gradient(term, params, is_stacked) for name, term in terms.items()}
    found = {f"grad/norm/{name}": _norms(grad) for name, grad in grads.items()}
    if losses.align is not None:
        base = [torch.stack(parts).sum(0) for parts in zip(*(grads[name] for name in losses.parts), strict=True)]
        found["grad/cosine"] = _cosines(base, grads["align"])
    return found


def unreached(names: Collection[str], leaves: Mapping[str, Tensor]) -> list[str]:
    """Those of `names` that have no gradient, whether or not they are trained now; a gradient of 0 counts as one."""
    return [name for name in names if name not in leaves or _lacks_gradient(leaves[name])]


def _lacks_gradient(leaf: Tensor) -> bool:
    return leaf.requires_grad and leaf.grad is None


def _gradient(term: Tensor, params: Sequence[Tensor], is_stacked: bool) -> list[Tensor]:
    """Gradients of all weights, one row per client: a client's term depends on no other client's weights."""
    total, n = term.sum(), len(term)
    if not total.requires_grad:
        return [param.new_zeros(n, param.numel() // (n if is_stacked else 1)) for param in params]
    found = torch.autograd.grad(total, params, retain_graph=True, allow_unused=True)
    whole = [torch.zeros_like(param) if grad is None else grad for grad, param in zip(found, params, strict=True)]
    return [grad.reshape(n, -1) for grad in whole]


def _norms(grad: Sequence[Tensor]) -> Tensor:
    return torch.stack([precise(part.square().sum(1)) for part in grad]).sum(0).sqrt()


def _cosines(a: Sequence[Tensor], b: Sequence[Tensor]) -> Tensor:
    """Over the weights that both reach; 0 where there are none."""
    shared = [(x, y, precise(x.any(1) & y.any(1))) for x, y in zip(a, b, strict=True)]
    product = torch.stack([precise((x * y).sum(1)) * both for x, y, both in shared]).sum(0)
    left = torch.stack([precise(x.square().sum(1)) * both for x, _, both in shared]).sum(0)
    right = torch.stack([precise(y.square().sum(1)) * both for _, y, both in shared]).sum(0)
    lengths = (left * right).sqrt()
    return torch.where(lengths > 0, product / lengths.clamp_min(torch.finfo(lengths.dtype).tiny), 0.0)
