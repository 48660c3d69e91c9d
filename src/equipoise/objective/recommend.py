"""The objective of a recommender: predict the next item, and align the two experts' views of it.

L_b = rec + w_lb·lb        L_a = con        lb and con need two experts
"""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.config.choices import LossKind
from equipoise.core.values import Losses, Moment, State
from equipoise.models.windows import Ranked, Windows
from equipoise.objective.compose import Net, Objective
from equipoise.objective.linear_softmax import linear_softmax
from equipoise.objective.modalities import ContrastOptions, ContrastResult, contrast, load_balance, rivals_of, surprise
from equipoise.objective.rank import bpr_loss, masked_mean, sampled_loss

COMMON = "common."
"""Prefix of the global memory's rows in what the server sends."""

GONE = -1e9
"""The score of an item that is left out of the comparison; finite, because padding may refer to it."""


def recommend(how: ContrastOptions | None = None, load: float = 0.0, kind: LossKind = "unmet") -> Objective:
    """The objective with loss `kind`. `how` None: no alignment. `load` is the weight w_lb of the load balance."""

    def losses(net: Net, windows: Windows, received: State, moment: Moment) -> Losses:
        ranked: Ranked = net.forward(windows, common_rows(received))
        (each, first), valid = per_position(ranked, windows, kind), windows.valid
        parts = {"rec": masked_mean(each, valid)}
        measured: dict[str, Tensor] = {}
        align = None
        if load and len(ranked.experts) > 1:  # a single expert always has all the weight
            parts["lb"] = load * load_balance(ranked.weights.flatten(0, 1), valid.flatten())
        if ranked.experts:
            measured |= _branches(ranked, valid, experts_of(net.params))
        if how is not None and len(ranked.experts) == 2:
            surprised = surprise(each.detach(), level_of(each.detach(), windows))
            outputs = [output.flatten(0, 1) for output in ranked.experts]
            seen = (ranked.weights > 0).all(-1) & valid
            rivals = rivals_of(windows.targets.flatten(), seen.flatten())
            found = contrast(outputs[0], outputs[1], surprised.flatten(), rivals, how)
            align = found.loss
            measured |= _weighting(found, surprised.flatten(), seen.flatten(), how)
            measured["contrast/chance"] = masked_mean(rivals.sum(1).clamp_min(1).log(), seen.flatten())
        base = torch.stack(list(parts.values())).sum()
        return Losses(base, align, parts, masked_mean(first, valid), {"loss": each.detach()}, measured)

    return losses


def common_rows(received: State) -> State:
    """The global memory's rows in what the server sent, by modality."""
    return {name.removeprefix(COMMON): rows for name, rows in received.items() if name.startswith(COMMON)}


def per_position(ranked: Ranked, windows: Windows, kind: LossKind) -> tuple[Tensor, Tensor]:
    """The loss of every position [W, T], and 1 where the target scores highest among the items compared."""
    if kind == "softmax":
        return linear_softmax(ranked.states, ranked.table, ranked.offset, windows.targets)
    if kind == "unmet":
        met, absent = rivals_gone(windows)
        unmet = ranked.offset.masked_fill(met if ranked.offset.dim() == 2 else met[:, None], GONE)
        return linear_softmax(ranked.states, ranked.table, unmet, windows.targets, absent)
    positive, drawn = ranked.at(windows.targets), windows.negatives >= 0
    negative = ranked.of(windows.negatives.clamp_min(0)).masked_fill(~drawn, -torch.inf)
    loss = sampled_loss(positive, negative) if kind == "sampled" else bpr_loss(positive, negative)
    return loss, (positive >= negative.amax(-1)).float()


def rivals_gone(windows: Windows) -> tuple[Tensor, Tensor]:
    """Items that are left out of the comparison: in the whole window [W, V], and at each position [W, T, 2T].

    A target that the user met before the window is compared where it is the target, and left out elsewhere.
    """
    targets = torch.where(windows.valid, windows.targets, windows.targets[:, :1])
    again = torch.where(windows.met.gather(1, targets), targets, windows.items[:, :1])
    everywhere = again[:, None].expand(-1, targets.shape[1], -1)
    return windows.met.scatter(1, targets, False), torch.cat([inputs_until(windows.items), everywhere], -1)


def inputs_until(items: Tensor) -> Tensor:
    """[W, T, T]: the inputs up to each position. Later inputs are replaced by the first, which is always included."""
    ahead = torch.ones(items.shape[1], items.shape[1], dtype=torch.bool, device=items.device).triu(1)
    return torch.where(ahead, items[:, :1, None], items[:, None])


def level_of(each: Tensor, windows: Windows) -> Tensor:
    """The running mean and deviation of the client's losses; at its first step those of the step itself."""
    mean = masked_mean(each, windows.valid)
    deviation = masked_mean((each - mean).square(), windows.valid).sqrt()
    return torch.where(windows.level[1] > 0, windows.level, torch.stack([mean, deviation]))


def experts_of(params: State) -> list[str]:
    """The names of the experts, in order."""
    return list(dict.fromkeys(name.split(".")[1] for name in params if name.startswith("experts.")))


def _branches(ranked: Ranked, valid: Tensor, names: list[str]) -> dict[str, Tensor]:
    """Each expert's mean weight, the deviation of that weight between targets, and its share of the summed lengths."""
    found = {}
    for k, name in enumerate(names):
        weight = ranked.weights[..., k].detach()
        found[f"router/{name}"] = masked_mean(weight, valid)
        found[f"router/{name}/deviation"] = _deviation(weight, valid)
        found[f"branch/{name}/share"] = masked_mean(ranked.shares[..., k], valid)
    return found


def _weighting(found: ContrastResult, surprised: Tensor, valid: Tensor, how: ContrastOptions) -> dict[str, Tensor]:
    """Distribution of surprise, its correlation with the weighted loss, and statistics of the weights."""
    weights, each = found.weights.detach(), found.each.detach()
    measured = {
        "surprise": masked_mean(surprised, valid),
        "surprise/deviation": _deviation(surprised, valid),
        "surprise/loss_corr": _correlation(surprised, weights * each, valid),
    }
    if how.weighting in ("instance", "after-mean"):
        n = valid.sum().clamp_min(1)
        measured["weights/variance"] = _deviation(weights, valid).square()
        measured["weights/ess"] = weights.sum().square() / (weights.square().sum() * n).clamp_min(1e-12)
    return measured


def _deviation(values: Tensor, valid: Tensor) -> Tensor:
    return masked_mean((values - masked_mean(values, valid)).square(), valid).sqrt()


def _correlation(a: Tensor, b: Tensor, valid: Tensor) -> Tensor:
    left, right = a - masked_mean(a, valid), b - masked_mean(b, valid)
    spread = (masked_mean(left.square(), valid) * masked_mean(right.square(), valid)).sqrt()
    return masked_mean(left * right, valid) / spread.clamp_min(1e-12)
