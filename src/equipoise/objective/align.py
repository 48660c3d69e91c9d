"""Alignment terms.

proximal     ½ ‖w − w_t‖²                          w_t: the weights that the server sent; FedProx, 2020, eq. 2
to_anchors   mean_c ‖p_c − t_c‖² / D               over all classes, or over those that the client owns
             t = A, or progressive: t = (1 − p)·P_start + p·A
to_means     mean_i ‖f_i − m_{y_i}‖² / D           m: class means that the server sent; FedProto, 2022, eq. 6
"""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.config.choices import Aligned, Target
from equipoise.models.heads import ANCHORS, PROTOTYPES
from equipoise.objective.compose import Term, View

MEANS, COUNTS = "means.features", "means.counts"
"""Names of the class means [C, D] and of their image counts [C] in what the server sends."""


def proximal(view: View) -> Tensor:
    """½ ‖w − w_t‖² over all trained weights."""
    return 0.5 * torch.stack([(w - view.received[name]).square().sum() for name, w in view.params.items()]).sum()


def to_anchors(classes: Aligned = "all", target: Target = "anchors") -> Term:
    """Squared distance of the prototypes to the anchors, or to a target that moves towards them."""

    def align(view: View) -> Tensor:
        p, t = view.params[PROTOTYPES], view.received[ANCHORS]
        if target == "progressive":
            t = (1 - view.moment.progress) * view.received[PROTOTYPES] + view.moment.progress * t
        per_class = (p - t).square().mean(1)
        if classes == "all":
            return per_class.mean()
        owned = torch.as_tensor(view.moment.counts) > 0
        return torch.where(owned, per_class, 0).sum() / owned.sum()

    return align


def to_means(view: View) -> Tensor:
    """The mean covers images whose class has a mean; it is 0 until the server has sent class means."""
    if MEANS not in view.received:
        return view.features.sum() * 0.0
    known = (view.received[COUNTS] > 0)[view.labels].to(view.features.dtype)
    known = known if view.share is None else known * (view.share > 0)
    distance = (view.features - view.received[MEANS][view.labels]).square().mean(1)
    return (distance * known).sum() / known.sum().clamp_min(1)
