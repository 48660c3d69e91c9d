"""Bytes that would cross the network in a step, in each direction.

    down   the model and the broadcast beside it, each round, or once if nothing else is ever sent down;
           and what predictors send to clients
    up     clients' models, their reports, and their answers to predictors

With one upload everything comes up at the last checkpoint: those before it only observe. For tables that a client holds
in part, its rows and their numbers are counted, in each direction.
"""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.client.groups import trained
from equipoise.core.values import ClientUpdate, State, Task, n_bytes
from equipoise.evaluate.score import Scores
from equipoise.run.build import Federation
from equipoise.server.total import SENT

DOWN, UP = (None, "bytes/down"), (None, "bytes/up")
ASKED, ANSWERED = (None, "bytes/asked"), (None, "bytes/told")
"""Metrics of the bytes that predictors send down and up."""


def traffic(
    federation: Federation, tasks: Sequence[Task], updates: Sequence[ClientUpdate], scores: Scores, is_over: bool
) -> Scores:
    method, is_one_shot = federation.method, federation.config.is_one_shot
    if method.pools_data or (method.predict is None and not method.exchange.up):
        return {DOWN: 0.0, UP: 0.0}
    down = float(_down(federation, tasks, updates))
    up = float(_models_up(federation, tasks, updates, is_over))
    if is_over or not is_one_shot:
        up += sum(n_bytes(update.own.report) + update.metrics.get(SENT, 0.0) for update in updates)
        up += scores.get(ANSWERED, 0.0)
        down += scores.get(ASKED, 0.0)
    return {DOWN: down, UP: up}


def _down(federation: Federation, tasks: Sequence[Task], updates: Sequence[ClientUpdate]) -> int:
    """Clients that failed were sent the whole model."""
    is_first, failed = tasks[0].step == 0, len(tasks) - len(updates)
    beside = n_bytes(tasks[0].shared) - n_bytes(federation.start)
    sent = len(tasks) * beside if is_first or not federation.config.is_one_shot else 0
    if is_first or not federation.carries:
        sent += failed * n_bytes(federation.start)
        sent += sum(n_bytes(_common(federation, update)) + _row_numbers(update) for update in updates)
    return sent


def _models_up(federation: Federation, tasks: Sequence[Task], updates: Sequence[ClientUpdate], is_over: bool) -> int:
    """The models that are sent up; frozen groups are not sent."""
    if not federation.method.exchange.up or not (is_over or not federation.carries):
        return 0
    moving = trained(federation.config, federation.groups, tasks[0].step)
    sent = 0
    for update in updates:
        common = _common(federation, update)
        sent += n_bytes(common if moving is None else {name: common[name] for name in moving & common.keys()})
        sent += _row_numbers(update)
    return sent


def _common(federation: Federation, update: ClientUpdate) -> State:
    return {name: tensor for name, tensor in update.model.items() if name not in federation.personal}


def _row_numbers(update: ClientUpdate) -> int:
    """All tables of a client hold the same rows."""
    return n_bytes(dict(list(update.rows.items())[:1]))
