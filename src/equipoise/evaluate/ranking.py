"""The rank of the next item among the other items; `rank_metrics` turns ranks into metrics.

    rank = 1 + #(score > target's) + ½·#(score = target's, other items)

Protocol `full` ranks the target among all items that the user has not met, `uni100` among 100 drawn items. The name of
a metric includes its protocol. Ties share the mean of their places: constant scores get the middle rank, and a rank of
10.5 does not count as within 10. Chance is the mean over all orders of the M_u ranked items, including the target:

    hr@k = mean min(k, M)/M        ndcg@k = mean 1/M·Σ_{r ≤ min(k, M)} 1/log2(r + 1)        mrr = mean 1/M·Σ_{r ≤ M} 1/r

Source: Krichene, Rendle, "On Sampled Metrics for Item Recommendation", 2020, for why `uni100` is never reported alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import DataError, NonFinite
from equipoise.core.values import Floats, Indices, Mask
from equipoise.evaluate.popularity import spanned
from equipoise.evaluate.rank_metrics import CUTS, Protocol, per_user

if TYPE_CHECKING:
    from torch import Tensor

Ranks = dict[Protocol, Floats]


def met(items: Indices, bounds: Indices, ends: Indices, n_items: int) -> Mask:
    """[U, V]: the items among the first ends[u] of each history, which `full` does not rank."""
    users, at = spanned(bounds[:-1], ends)
    seen = np.zeros((len(ends), n_items), dtype=np.bool_)
    seen[users, items[at]] = True
    return seen


def mid_ranks(scores: Tensor, targets: Indices, excluded: Mask) -> Floats:
    """The rank of targets[u] by scores[u] among items that are not `excluded` [U, V]; the target is always ranked."""
    values = _finite(scores)
    others = _others(targets, excluded)
    own = _own(values, targets)
    return _ranks(((values > own) & others).sum(1), ((values == own) & others).sum(1))


def uni100(scores: Tensor, targets: Indices, drawn: Indices) -> Floats:
    """The rank of targets[u] by scores[u] among the target and the other items drawn[u]; `drawn` is [U, 100]."""
    values = _finite(scores)
    rivals, own = np.take_along_axis(values, drawn, 1), _own(values, targets)
    return _ranks((rivals > own).sum(1), (rivals == own).sum(1))


def by_protocol(scores: Tensor, targets: Indices, excluded: Mask, drawn: Indices | None) -> Ranks:
    """Ranks under each protocol; `uni100` needs drawn items."""
    ranks: Ranks = {"full": mid_ranks(scores, targets, excluded)}
    return ranks if drawn is None else {**ranks, "uni100": uni100(scores, targets, drawn)}


def n_ranked(targets: Indices, excluded: Mask) -> Indices:
    """The number of items that `mid_ranks` ranks for each user, including the target."""
    return np.asarray(1 + _others(targets, excluded).sum(1))


def metrics(ranks: Floats, protocol: Protocol) -> dict[str, float]:
    """Means over users of all metrics."""
    _require_users(len(ranks), protocol)
    return {name: float(values.mean()) for name, values in per_user(ranks, protocol).items()}


def chance(ranked: Indices, protocol: Protocol) -> dict[str, float]:
    """The expected metrics of a random order of `ranked` [U] items per user."""
    _require_users(len(ranked), protocol)
    places = np.arange(1, max(ranked.max(), *CUTS) + 1)
    gains, reciprocals = (np.append(0.0, np.cumsum(1 / discount)) for discount in (np.log2(places + 1), places))
    return {
        **{f"hr@{k}/{protocol}": float((np.minimum(k, ranked) / ranked).mean()) for k in CUTS},
        **{f"ndcg@{k}/{protocol}": float((gains[np.minimum(k, ranked)] / ranked).mean()) for k in CUTS},
        f"mrr/{protocol}": float((reciprocals[ranked] / ranked).mean()),
    }


def chances(targets: Indices, excluded: Mask, drawn: Indices | None) -> dict[str, float]:
    """Chance under each protocol; `uni100` needs drawn items."""
    found = chance(n_ranked(targets, excluded), "full")
    return found if drawn is None else found | chance(np.full(len(targets), 1 + drawn.shape[1]), "uni100")


def _require_users(n: int, protocol: Protocol) -> None:
    if not n:
        raise DataError("there is nobody to rank for", where=f"ranking, {protocol}", fix="give one target or more")


def _own(values: NDArray[np.float32], targets: Indices) -> NDArray[np.float32]:
    assert (targets >= 0).all(), "a negative target would be read from the end of the catalogue"
    return values[np.arange(len(targets)), targets, None]


def _ranks(above: Indices, level: Indices) -> Floats:
    return 1 + above + 0.5 * level


def _others(targets: Indices, excluded: Mask) -> Mask:
    others = ~excluded
    others[np.arange(len(targets)), targets] = False
    return others


def _finite(scores: Tensor) -> NDArray[np.float32]:
    values: NDArray[np.float32] = scores.detach().cpu().numpy()
    bad = ~np.isfinite(values)
    if bad.any():
        user, item = np.argwhere(bad)[0]
        many = f"{bad.any(1).sum()} of {len(bad)} users have such scores"
        what = f"item {item} has the score {values[user, item]}; {many}"
        fix = "find the first step whose loss or weights are not finite: such scores are neither ranked nor repaired"
        raise NonFinite(what, where=f"ranking, user {user}", fix=fix)
    return values
