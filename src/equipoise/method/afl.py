"""AFL, analytic federated learning: every client solves its own ridge, and one law makes everybody's of them.

client k   C_k = X_kᵀX_k + γ·I      Ŵ_k = C_k⁻¹ X_kᵀY_k                         sends C_k and Ŵ_k, once
server     Ŵ = (Σ_k C_k)⁻¹ Σ_k C_k·Ŵ_k                                          the absolute aggregation law
           W = (Σ_k C_k − K·γ·I + r·I)⁻¹ (Σ_k C_k)·Ŵ                            γ removed again; no intercept
base = 0        align = 0        λ = 0        predict = the fixed encoder with head W

γ lets a client with fewer samples than features solve its own; nothing of it is left in W, which is the least-squares
solution over all samples (r = 0, as published) or their ridge, whatever the split and γ. Features enter as they are.
Source: He et al., "AFL: A Single-Round Analytic Approach for Federated Learning with Pre-trained Models", CVPR 2025.
The same: what is sent, the law, the removal of γ. Different: the law is applied to all clients at once (its pairwise
form gives the same Ŵ); a singular ΣXᵀX gives the solution of least norm; C_k is sent as half of a symmetric matrix in
single precision; clients also send how many samples of each class they have.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.core.values import State
from equipoise.method.answers import Method
from equipoise.method.closed_form import Sums, closed_form

if TYPE_CHECKING:
    from torch import Tensor

    from equipoise.client.finished import Finished


class AflOptions(MethodOptions):
    name: str = "afl"
    gamma: float = Field(1.0, gt=0, description="γ, by which every client regularises its own solution")
    strength: float = Field(0.0, ge=0, description="r, the ridge that is left in the end; 0: least squares")


@METHODS.register("afl", options=AflOptions, traits=(OWN_MERGE,))
def afl(options: AflOptions) -> Method:
    solve, report = partial(without_gamma, options), partial(own_solution, options)
    return closed_form(solve, report, partial(aggregated, options))


def own_solution(options: AflOptions, done: Finished) -> State:
    """C_k and Ŵ_k."""
    from equipoise.server.least_squares import EXACT, ridge
    from equipoise.server.packing import packed
    from equipoise.server.sums import added_up, whole

    own = done.own()
    sums = added_up(own.pieces(), len(own.counts), device=own.reader.device)
    c_k = whole(sums["gram"], 0, len(sums["classes"]), 1)[0]
    c_k.diagonal().add_(options.gamma)
    sent = {"gram": packed(c_k), "solution": ridge(c_k, sums["classes"], epsilon=EXACT), "counts": sums["counts"]}
    return {name: tensor.float() for name, tensor in sent.items()}


def aggregated(options: AflOptions, report: State) -> State:
    """C_k − γ·I and C_k·Ŵ_k, which add up. Rounded to single precision, so that sums are the same in any order."""
    from equipoise.server.packing import packed
    from equipoise.server.sums import whole

    solution = report["solution"].double()
    c_k = whole(report["gram"].double(), 0, len(solution), 1)[0]
    classes = (c_k @ solution).float().double()
    c_k.diagonal().sub_(options.gamma)
    return {"gram": packed(c_k), "classes": classes, "counts": report["counts"].double()}


def without_gamma(options: AflOptions, sums: Sums) -> tuple[Tensor, Tensor]:
    """W, with a bias of 0."""
    from equipoise.server.least_squares import ridge

    return ridge(sums.gram, sums.classes, options.strength), sums.counts * 0
