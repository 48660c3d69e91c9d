"""The objective of two networks side by side: the shared w learns as if alone, the personal v near what was sent.

    L_b = cls(v) + cls(w)        L_a = ½‖v − w_t‖²

No term has both in it, so each gets the gradient that it would have alone.
Source: Li et al., "Ditto: Fair and Robust Federated Learning Through Personalization", 2021, eq. 2.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from equipoise.core.values import Losses, Moment, State
from equipoise.models.twin import PERSONAL, SHARED, TwinOutput
from equipoise.objective.classify import cross_entropy
from equipoise.objective.compose import Batch, Net, Objective, View, objective


def to_shared(view: View) -> Tensor:
    pairs = [(v, SHARED + name.removeprefix(PERSONAL)) for name, v in view.params.items() if name.startswith(PERSONAL)]
    return 0.5 * torch.stack([(v - view.received[w_t]).square().sum() for v, w_t in pairs]).sum()


def twins() -> Objective:
    of_personal, of_shared = objective({"cls": cross_entropy}, align=to_shared), objective({"cls": cross_entropy})

    def losses(net: Net, batch: Batch, received: State, moment: Moment) -> Losses:
        seen: TwinOutput = net.forward(batch.images)
        v = of_personal(replace(net, forward=lambda _: seen), batch, received, moment)
        w = of_shared(replace(net, forward=lambda _: seen.shared), batch, received, moment)
        return replace(v, base=v.base + w.base, parts={"cls": v.base, "shared": w.base})

    return losses
