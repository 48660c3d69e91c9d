"""Softmax cross-entropy of scores that are a matrix product plus an offset, without keeping the scores.

    z_nc = ⟨s_n, e_c⟩ + o_{w(n)c}        ℓ_n = log Σ_c e^{z_nc} − z_{n,y_n}        hit_n = 1 where no item scores higher
    ∂ℓ_n/∂z_nc = p_nc − [c = y_n],       p = x/Σx with x = e^{z − max z}

Only x is kept. The gradients need p only inside products, so 1/Σx and the incoming gradient are applied to the smaller
factor: ∂s = (g/Σx)∘(x E) − g∘E[y],  ∂E = xᵀ((g/Σx)∘s) − …,  ∂o = (g/Σx)ᵀx − …. Clients along a leading axis are
processed one by one, so that one client's scores stay in the cache.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def linear_softmax(
    states: Tensor, table: Tensor, offset: Tensor, targets: Tensor, absent: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """states [W, T, D], table [V, D], offset [W, V] or [W, T, V], targets [W, T] → losses and hits [W, T].

    `absent` [W, T, N] lists items that are left out at each position; a target is never left out.
    """
    offset = offset[:, None] if offset.dim() == states.dim() - 1 else offset
    absent = targets.new_empty(*targets.shape, 0) if absent is None else absent
    parts = (part[None] for part in (states, table, offset, targets, absent))
    losses, hits, *_ = _LinearSoftmax.apply(*parts)  # type: ignore[no-untyped-call]
    return losses[0], hits[0]


class _LinearSoftmax(torch.autograd.Function):
    """All arguments and results have a leading client axis."""

    @staticmethod
    def forward(
        states: Tensor, table: Tensor, offset: Tensor, targets: Tensor, absent: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        scores = states.new_empty(*states.shape[:3], table.shape[1])
        shape = targets.shape
        losses, hits, totals = (states.new_empty(shape) for _ in range(3))
        for k in range(len(states)):
            z = scores[k]
            torch.mm(states[k].flatten(0, 1), table[k].T, out=z.flatten(0, 1))
            z += offset[k]
            wanted = z.gather(-1, targets[k, ..., None])
            z.scatter_(-1, absent[k], -torch.inf).scatter_(-1, targets[k, ..., None], wanted)
            wanted, top = wanted[..., 0], z.amax(-1)
            torch.sum(z.sub_(top[..., None]).exp_(), -1, out=totals[k])
            losses[k] = totals[k].log() + top - wanted
            hits[k] = wanted >= top
        return losses, hits, scores, totals

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        states, table, offset, targets, _ = inputs
        _, hits, scores, totals = output
        ctx.mark_non_differentiable(hits, scores, totals)
        ctx.set_materialize_grads(False)  # else unused zeros as large as the scores are written
        ctx.save_for_backward(states, table, targets, scores, totals)
        ctx.by_window = offset.shape[2] == 1

    @staticmethod
    def backward(ctx: Any, grad: Tensor, *_: None) -> tuple[Tensor | None, ...]:
        states, table, targets, scores, totals = ctx.saved_tensors
        d_states, d_table = torch.empty_like(states), torch.empty_like(table)
        windows, length = targets.shape[1:]
        d_offset = grad.new_empty(len(states), windows, 1 if ctx.by_window else length, table.shape[1])
        for k in range(len(states)):
            x, y, g = scores[k].flatten(0, 1), targets[k].flatten(), grad[k].flatten()[:, None]
            s, shares = states[k].flatten(0, 1), g / totals[k].flatten()[:, None]
            torch.mm(x, table[k], out=d_states[k].flatten(0, 1))
            d_states[k].flatten(0, 1).mul_(shares).sub_(g * table[k][y])
            torch.mm(x.T, shares * s, out=d_table[k])
            d_table[k].index_add_(0, y, g * s, alpha=-1)
            if ctx.by_window:
                torch.bmm(shares.view(windows, 1, length), scores[k], out=d_offset[k])
            else:
                torch.mul(scores[k], shares.view(windows, length, 1), out=d_offset[k])
            where = targets[k][:, None] if ctx.by_window else targets[k][..., None]
            d_offset[k].scatter_add_(-1, where, -(grad[k][:, None] if ctx.by_window else grad[k][..., None]))
        return d_states, d_table, d_offset, None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Tensor) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """The mapped clients become the leading axis, in place of the axis of length one that each of them has."""
        fronted = [
            part[0].expand(info.batch_size, *part.shape[1:]) if dim is None else part.movedim(dim, 0).squeeze(1)
            for part, dim in zip(inputs, in_dims, strict=True)
        ]
        found = _LinearSoftmax.apply(*fronted)  # type: ignore[no-untyped-call]
        return tuple(part.unsqueeze(1) for part in found), (0,) * len(found)
