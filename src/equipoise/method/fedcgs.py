"""FedCGS: every class a Gaussian with its own mean and a covariance that all share.

μ_c = S_c/n_c      μ = m/n      Σ = (G − n·μμᵀ)/(n − 1)  (total, as published)  or  (G − Σ_c n_c·μ_cμ_cᵀ)/n  (within)
W_c = (Σ + r·I)⁻¹ μ_c      b_c = −½·μ_cᵀ W_c + log(n_c/n)
base = 0        align = 0        λ = 0        predict = the fixed encoder with head W, b

`within` is linear discriminant analysis. `total` is measured about the mean of all samples, so Σ also holds the
distances between classes. Scores do not change when features are turned or rescaled, with r = 0. A singular Σ gives the
solution of least norm.
Source: Guan, Zhou, Gu, "Capture Global Feature Statistics for One-Shot Federated Learning", AAAI 2025. The same: the
statistics and the head. Different: the choice of Σ, and r; without the personalisation that may follow.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from equipoise.config.traits import OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method
from equipoise.method.closed_form import SumOptions, Sums, closed_form, feature_sums

if TYPE_CHECKING:
    from torch import Tensor


class FedcgsOptions(SumOptions):
    name: str = "fedcgs"
    covariance: Literal["total", "within"] = Field("total", description="Σ about the mean of all, or about class means")
    strength: float = Field(0.0, ge=0, description="r, added to the diagonal of Σ")


@METHODS.register("fedcgs", options=FedcgsOptions, traits=(OWN_MERGE,))
def fedcgs(options: FedcgsOptions) -> Method:
    return closed_form(partial(gaussian_head, options), partial(feature_sums, options))


def gaussian_head(options: FedcgsOptions, sums: Sums) -> tuple[Tensor, Tensor]:
    from equipoise.server.least_squares import ridge

    n, counts = sums.n, sums.counts.clamp_min(1)
    means = sums.classes / counts  # [D, C]; 0 for a class that nobody has
    if options.covariance == "total":
        sigma = (sums.gram - sums.features.outer(sums.features) / n) / max(n - 1, 1)
    else:
        sigma = (sums.gram - (means * sums.counts) @ means.T) / n
    weights = ridge(sigma, means, options.strength)
    return weights, -0.5 * (means * weights).sum(0) + (counts / n).log()
