"""Analytic: nothing is trained. Clients send sums of fixed features once, and the server solves the head from them.

base = 0        align = 0        λ = 0        merge: W = (Σ_k G_k + r·I)⁻¹ Σ_k S_k, as in `server/ridge`
predict = the fixed encoder with that head
Sums over clients are sums over samples, so the result is the same for every split, and r is chosen from them alone. The
server adds each client's sums to a total as they come, and keeps no client's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import OWN_MERGE
from equipoise.core.errors import ClientError
from equipoise.core.registry import METHODS
from equipoise.core.values import ClientUpdate, State
from equipoise.method.answers import Exchange, Method

if TYPE_CHECKING:
    from equipoise.client.finished import Finished
    from equipoise.server.merge import ServerState

NEVER = -10.0
"""Score of a class that nobody has; scores of others are near 0 and 1."""


class AnalyticOptions(MethodOptions):
    name: str = "analytic"
    send: Literal["single", "half"] = Field("single", description="precision of the sums that clients send")
    parts: int = Field(
        1, ge=1, description="features are cut into so many parts: products within a part only, a head each, summed"
    )


@METHODS.register("analytic", options=AnalyticOptions, traits=(OWN_MERGE,))
def analytic(options: AnalyticOptions) -> Method:
    from equipoise.server.sums import received

    report, merge = partial(feature_sums, options), partial(closed_form, options)
    sums = partial(received, parts=options.parts)
    return Method(merge=merge, exchange=Exchange(up=False, report=report, sums=sums), trains=False)


def feature_sums(options: AnalyticOptions, done: Finished) -> State:
    from equipoise.server.sums import added_up, sent

    own = done.own()
    sums = added_up(own.pieces(), len(own.counts), options.parts, own.reader.device)
    return sent(sums, options.send, options.parts)


def closed_form(options: AnalyticOptions, state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
    """The heads of all parts side by side, each with its share of the score."""
    import torch

    from equipoise.server.ridge import HALF, SINGLE, head_of
    from equipoise.server.sums import whole

    sums, n_features, parts = state.sums, len(state.sums["features"]), options.parts
    rounding = HALF if options.send == "half" else SINGLE
    weights, bias = torch.zeros(n_features, len(sums["counts"])), torch.zeros(len(sums["counts"]))
    for part in range(parts):
        gram, own = whole(sums["gram"], part, n_features, parts)
        head = head_of(gram, sums["classes"][own], sums["features"][own], sums["counts"], rounding) / parts
        weights[own] = head[:-1].float()
        bias += head[-1].float()
    if not weights.any():
        what = "every feature is the same for all samples, so that no head can tell classes apart"
        raise ClientError(what, where="model", fix="another encoder, or other settings of this one")
    bias = torch.where(sums["counts"] > 0, bias, NEVER)
    return replace(state, model={**state.model, "head.weight": weights.T.contiguous(), "head.bias": bias})
