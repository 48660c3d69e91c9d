"""Machines with their own data give the numbers of the local engine, to the last bit."""

from __future__ import annotations

import pytest

from equipoise.config.loader import load
from tests.conftest import assert_same, numbers, records, tiny
from tests.flower.conftest import IMAGES, USERS

ALONE = "evaluate.beside=never"
"""No servers beside the run's own: `fedavg` shows that machines answer their questions."""
RUNS = {
    "fedavg": lambda *more: tiny(*IMAGES, *more),
    "fafi": lambda *more: tiny(*IMAGES, *_one_shot("fafi"), ALONE, *more, model="cnn"),
    "analytic": lambda *more: tiny(
        *IMAGES, *_one_shot("analytic"), "model.filters=8", "engine.threads=1", *more, model="patches"
    ),
    "etf-align": lambda *more: tiny(*IMAGES, *_one_shot("etf-align"), "balance=v12", ALONE, *more, model="cnn"),
    "feddmmr": lambda *more: load("rec/feddmmr", [*USERS, "rounds=2", *more]).config,
}


def _one_shot(method: str) -> tuple[str, ...]:
    epochs = () if method == "analytic" else ("checkpoints=2", "client.epochs=2")
    return ("communication=one-shot", f"method={method}", *epochs)


@pytest.mark.flower
@pytest.mark.parametrize("name", RUNS)
def test_the_same_numbers_on_machines(town, name):
    local, ours = records(RUNS[name]()), records(RUNS[name](*town.settings))
    assert numbers(ours) == numbers(local)
    assert_same(ours[-1].snapshot.server.model, local[-1].snapshot.server.model)


@pytest.mark.flower
def test_clients_states_stay_on_their_machines(town):
    """A one-shot client's model is its own; the server holds what it was sent, and the handle of the rest."""
    (*_, last) = records(RUNS["fafi"](*town.settings))
    assert all(state.handle for state in last.snapshot.own.values())
    assert not any(state.optimiser for state in last.snapshot.own.values())
