"""Fed3R, federated recursive ridge regression: one ridge over all samples, with columns of length 1.

A = Σ_k Σ_i φ_i φ_iᵀ      b = Σ_k Σ_i φ_i y_iᵀ      W = (A + r·I)⁻¹ b      w_c ← w_c / ‖w_c‖      no intercept
base = 0        align = 0        λ = 0        predict = the fixed encoder with head W

A class with few samples gets a short column, since y is mostly 0 for it; equal lengths undo that. Features enter as
they are; clients may come in any order.
Source: Fanì et al., "Accelerating Heterogeneous Federated Learning with Closed-form Classifiers", ICML 2024, r = 0.01
there. The same: the sums, the ridge, the columns. Different: without random Fourier features, without the fine-tuning
that may follow; a class that nobody has keeps a column of 0.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from equipoise.config.traits import OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method
from equipoise.method.closed_form import SumOptions, Sums, closed_form, feature_sums

if TYPE_CHECKING:
    from torch import Tensor


class Fed3rOptions(SumOptions):
    name: str = "fed3r"
    strength: float = Field(0.01, ge=0, description="r, the ridge")


@METHODS.register("fed3r", options=Fed3rOptions, traits=(OWN_MERGE,))
def fed3r(options: Fed3rOptions) -> Method:
    return closed_form(partial(normalised_ridge, options), partial(feature_sums, options))


def normalised_ridge(options: Fed3rOptions, sums: Sums) -> tuple[Tensor, Tensor]:
    from equipoise.server.least_squares import ridge

    weights = ridge(sums.gram, sums.classes, options.strength)
    lengths = weights.norm(dim=0)
    return weights / lengths.where(lengths > 0, 1.0), sums.counts * 0
