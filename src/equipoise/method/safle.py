"""SAFLe-like: features are bucketed and looked up in tables, whose entries are one linear head in closed form.

φ → bits by overlapping thresholds → shuffled → groups → e, one-hot codes of the groups (`models/buckets`)
W = (Σ_k Ĝ_k + r·I)⁻¹ Σ_k Ŝ_k of e instead of φ, r chosen from the sums alone (`server/ridge`)
base = 0        align = 0        λ = 0        predict = the fixed encoder, the lookup, the sum of the entries

Non-linear in φ, linear in e: so there is one upload, and the result is the same for every split. Products of bits are
within their group only; e has D·L/g·2^g entries, and a client sends their sums.
Source: after the idea of Bacellar et al., "Single-Round Scalable Analytic Federated Learning" (SAFLe), CVPR 2026, not
after its code. The same: bucketing, binary and overlapping; shuffled groups; a table for each, summed; solved as a
linear regression in one upload. Different, or not known to us: thresholds (here from public photographs, so that
nobody's data is asked for), the sizes, and the ridge (here standardised, with its strength by cross-validation).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from equipoise.config.traits import OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.core.values import State
from equipoise.method.answers import Method
from equipoise.method.closed_form import SumOptions, Sums, closed_form

if TYPE_CHECKING:
    from torch import Tensor, nn

    from equipoise.client.finished import Finished


class SafleOptions(SumOptions):
    name: str = "safle"
    levels: int = Field(8, ge=1, le=32, description="L, thresholds of each feature")
    group: int = Field(2, ge=1, le=8, description="g, bits that are looked up together")


@METHODS.register("safle", options=SafleOptions, traits=(OWN_MERGE,))
def safle(options: SafleOptions) -> Method:
    return closed_form(standardised_ridge, partial(code_sums, options), head=partial(bucket_head, options))


def bucket_head(options: SafleOptions, n_features: int, n_classes: int, seed: int) -> nn.Module:
    from equipoise.models.buckets import BucketHead

    return BucketHead(n_features, n_classes, options.levels, options.group, seed)


def code_sums(options: SafleOptions, done: Finished) -> State:
    """The client's sums of e."""
    from equipoise.models.buckets import BucketHead
    from equipoise.server.sums import added_up, sent

    own = done.own()
    head = own.network.head
    assert isinstance(head, BucketHead), "the method gave the network its head"
    codes = ((head.expanded(features), labels) for features, labels in own.pieces())
    return sent(added_up(codes, len(own.counts), device=own.reader.device), options.send)


def standardised_ridge(sums: Sums) -> tuple[Tensor, Tensor]:
    from equipoise.server.ridge import head_of

    head = head_of(*sums)
    return head[:-1], head[-1]
