"""Analytic for interactions: nothing is trained. Users send sparse sums of their histories once; the server solves
the scores of next items from the total.

base = 0        align = 0        λ = 0        merge: markov = √Σ_k n_k, ridge = (Σ_k G_k + r·I)⁻¹ Σ_k S_k
predict = the scores of `server/item_tables`; for `blend` the sum of both standardised ones (`evaluate/blend`)
Sums over users do not depend on how users are grouped or in which order they answer. The server adds each user's to a
total as they come, and keeps nobody's. They come from the training part alone, as everything that is trained here: the
validation and test items are in no sum, and the weight of the blend is chosen on validation. Sums of one user tell
most of its history; only the total is safe to show, and it is all that the server needs (secure aggregation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from equipoise.config.traits import HISTORIES, OWN_MERGE, SOLVED
from equipoise.core.registry import METHODS
from equipoise.core.values import ClientUpdate, State
from equipoise.method.answers import Exchange, Method
from equipoise.server.item_settings import ItemSumsOptions

if TYPE_CHECKING:
    from equipoise.client.finished import Finished
    from equipoise.server.merge import ServerState


@METHODS.register("analytic-items", options=ItemSumsOptions, traits=(HISTORIES, OWN_MERGE, SOLVED))
def analytic_items(options: ItemSumsOptions) -> Method:
    from equipoise.server.item_sums import add

    exchange = Exchange(up=False, report=partial(history_sums, options), sums=dict, add=add)
    return Method(merge=partial(closed_form, options), exchange=exchange, trains=False, for_kind=options)


def history_sums(options: ItemSumsOptions, done: Finished) -> State:
    from equipoise.server.item_sums import sums_of

    feed = done.feed
    return sums_of([history.items[: history.last] for history in feed.histories], feed.n_items, options)


def closed_form(options: ItemSumsOptions, state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
    from equipoise.server.item_tables import solved

    return replace(state, model=solved(state.sums, options))
