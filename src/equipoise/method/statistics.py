"""Statistics only: no training. Clients send sums of features of the common start, and the server solves the head.

base = 0        align = 0        λ = 0        merge: W = (Σ_k G_k + r·I)⁻¹ Σ_k S_k, as in `server/ridge`
predict = the start's encoder with that head
G and S carry the same information as class means and covariances, and add up over clients: the result does not depend
on how the data is split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import OWN_MERGE
from equipoise.core.registry import METHODS
from equipoise.core.values import ClientUpdate, State
from equipoise.method.answers import Exchange, Method

if TYPE_CHECKING:
    from equipoise.client.finished import Finished
    from equipoise.server.merge import ServerState


@METHODS.register("statistics", options=MethodOptions, traits=(OWN_MERGE,))
def statistics(options: MethodOptions) -> Method:
    return Method(merge=closed_form, exchange=Exchange(up=False, report=feature_sums), trains=False)


def feature_sums(done: Finished) -> State:
    from equipoise.server.ridge import client_sums

    own = done.own()
    return client_sums(own.outputs[0].features, own)


def closed_form(state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
    from equipoise.server.ridge import solved

    head = solved([update.own.report for update in sorted(updates, key=lambda update: update.client)]).float()
    return replace(state, model={**state.model, "head.weight": head[:-1].T.contiguous(), "head.bias": head[-1]})
