"""What all heads in closed form share: clients send sums of fixed features once, and the server solves the head.

    G = Σ_i φ_i φ_iᵀ      S = Σ_i φ_i y_iᵀ (y one-hot)      m = Σ_i φ_i      c = Σ_i y_i

A head is a function of these sums. They add up over clients, so it is the same for every split of the samples. The
server adds each client's sums to a total as they come, and keeps no client's. A class that nobody has is never
predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import Field

from equipoise.config.blocks import MethodOptions
from equipoise.core.errors import ClientError
from equipoise.core.values import ClientUpdate, State
from equipoise.method.answers import Exchange, Method

if TYPE_CHECKING:
    from torch import Tensor

    from equipoise.client.finished import Finished, Report
    from equipoise.models.build import Head
    from equipoise.server.merge import ServerState

NOBODY = -1e30
"""Score of a class that nobody has."""
CONSTANT = 5e-7
"""Sums in single precision do not tell a feature from a constant if its variance is a smaller share of its square."""


class SumOptions(MethodOptions):
    send: Literal["single", "half"] = Field("single", description="precision of the sums that clients send")


class Sums(NamedTuple):
    """The sums of all clients, in double precision."""

    gram: Tensor
    """G [D, D]."""
    classes: Tensor
    """S [D, C]."""
    features: Tensor
    """m [D]."""
    counts: Tensor
    """c [C]."""

    @property
    def n(self) -> float:
        return float(self.counts.sum())


Solve = Callable[[Sums], "tuple[Tensor, Tensor]"]
"""(sums) → weights [D, C] and bias [C]."""


def closed_form(
    solve: Solve, report: Report, received: Callable[[State], State] | None = None, head: Head | None = None
) -> Method:
    """A method whose clients send sums and whose server solves the head. `received`: what was sent → sums."""
    if received is None:
        from equipoise.server.sums import received
    exchange = Exchange(up=False, report=report, sums=received)
    return Method(merge=partial(solved, solve), exchange=exchange, trains=False, head=head)


def feature_sums(options: SumOptions, done: Finished) -> State:
    from equipoise.server.sums import added_up, sent

    own = done.own()
    return sent(added_up(own.pieces(), len(own.counts), device=own.reader.device), options.send)


def solved(solve: Solve, state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
    """The server's model with the head that the sums give."""
    import torch

    from equipoise.server.sums import whole

    total = state.sums
    classes, counts = total["classes"], total["counts"]
    features = total.get("features", classes.sum(1))
    sums = Sums(whole(total["gram"], 0, len(classes), 1)[0], classes, features, counts)
    require_variation(sums)
    weights, bias = solve(sums)
    if not weights.isfinite().all():
        what = "the head has weights that are not finite: features are too large for their sums"
        raise ClientError(what, where="model", fix="scale the features, or another encoder")
    bias = torch.where(counts > 0, bias, NOBODY).float()
    return replace(state, model={**state.model, "head.weight": weights.T.float().contiguous(), "head.bias": bias})


def require_variation(sums: Sums) -> None:
    """Refuse features that are the same for all samples."""
    squares = sums.gram.diagonal() / sums.n
    if not (squares - (sums.features / sums.n).square() > CONSTANT * squares).any():
        what = "every feature is the same for all samples, so that no head can tell classes apart"
        raise ClientError(what, where="model", fix="another encoder, or other settings of this one")
