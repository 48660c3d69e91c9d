from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.config.loader import load
from equipoise.core.errors import ClientError
from equipoise.core.values import ClientState
from equipoise.engine.local import Local
from equipoise.run.advance import cohort, merge_latest, plan
from equipoise.run.build import build
from equipoise.run.loop import federate, first_snapshot
from tests.conftest import assert_same, nobody, one_shot, records, tiny, update

from .conftest import Meddling, rows_of


def test_with_rounds_the_servers_model_goes_down(federation_of):
    federation = federation_of(tiny())
    steps = records(federation)
    second = plan(federation, steps[0].snapshot, 1)
    for task in second:
        assert_same(task.shared, steps[0].snapshot.server.model)
        assert task.own == ClientState()
        assert task.epochs == range(1, 2)


def test_with_one_shot_nothing_goes_down(federation_of):
    federation = federation_of(one_shot(epochs=4, checkpoints=2))
    steps = records(federation)
    first, second = (
        plan(federation, snapshot, i) for i, snapshot in enumerate([first_snapshot(federation), steps[0].snapshot])
    )
    assert [task.epochs for task in (*first, *second)] == [range(2)] * 3 + [range(2, 4)] * 3
    trained = {u.client: u for u in Local(federation.site).map(first)}
    for task in second:
        assert_same(task.shared, federation.start)
        assert_same(task.own.model, trained[task.client].model)
        assert_same(task.own.optimiser, trained[task.client].own.optimiser)


def test_where_nothing_is_shared_clients_keep_their_own_and_the_server_its_start(federation_of):
    federation = federation_of(tiny("method=local-only"))
    steps = records(federation)
    assert_same(steps[-1].snapshot.server.model, federation.start)
    assert steps[-1].snapshot.own.keys() == {0, 1, 2}
    assert all(task.own.model for task in plan(federation, steps[0].snapshot, 1))
    assert not rows_of(steps[-1], "accuracy/merged")
    assert rows_of(steps[-1], "accuracy/clients")


def test_nobody_left_to_ask():
    federation = build(one_shot(epochs=2, checkpoints=2))
    everybody = replace(first_snapshot(federation), stopped=frozenset(range(3)))
    with pytest.raises(ClientError, match=r"no client gave an update.*nobody left to ask") as caught:
        list(federate(federation, Local(federation.site), everybody, 1, nobody))
    assert "checkpoint 2" in str(caught.value)


def test_everybody_failing_ends_the_run_with_the_first_reason():
    with pytest.raises(ClientError, match=r"no client gave an update.* loss/base is (nan|inf)") as caught:
        records(tiny("client.lr=1e30"))
    assert "checkpoint 1, client 0" in str(caught.value)
    assert "client.lr" in str(caught.value)


def test_an_update_that_does_not_fit_is_refused_and_said_so():
    def misshapen(result):
        return update(result.client, result.samples, {**result.model, "head.bias": torch.zeros(3)})

    federation = build(tiny("rounds=1", "engine.together=1"))
    engine = Meddling(federation.site, {(0, 0): misshapen})
    (step,) = federate(federation, engine, first_snapshot(federation), 0, nobody)
    (event,) = step.events
    assert (event.kind, event.client) == ("update-refused", 0)
    assert "head.bias is torch.float32 (3,), expected torch.float32 (10,)" in event.message
    assert rows_of(step, "update/norm").keys() == {1, 2}


@pytest.mark.parametrize(
    ("clients", "fraction", "size"),
    [(10, 1.0, 10), (10, 0.5, 5), (10, 0.31, 3), (10, 0.01, 1), (3, 0.5, 2), (1, 0.1, 1)],
)
def test_the_size_of_a_cohort(clients, fraction, size, federation_of):
    federation = federation_of(tiny(f"partition.clients={clients}", f"server.fraction={fraction}"))
    for step in range(4):
        chosen = cohort(federation, step)
        assert len(chosen) == len(set(chosen)) == size
        assert chosen == sorted(chosen)
        assert set(chosen) <= set(range(clients))


def test_a_cohort_is_drawn_anew_each_round_from_the_seed(federation_of):
    federation = federation_of(tiny("partition.clients=10", "server.fraction=0.5"))
    draws = [tuple(cohort(federation, step)) for step in range(6)]
    assert draws == [tuple(cohort(federation, step)) for step in range(6)]
    assert len(set(draws)) > 1
    other = federation_of(tiny("partition.clients=10", "server.fraction=0.5", "seed=1"))
    assert draws != [tuple(cohort(other, step)) for step in range(6)]


def test_a_one_shot_cohort_is_drawn_once(federation_of):
    federation = federation_of(one_shot("partition.clients=10", "server.fraction=0.5"))
    assert len({tuple(cohort(federation, step)) for step in range(6)}) == 1
    steps = records(federation)
    assert rows_of(steps[0], "loss/base").keys() == rows_of(steps[1], "loss/base").keys() == set(cohort(federation, 0))


def test_clients_as_the_server_last_heard_of_them_give_its_model_again(federation_of):
    federation = federation_of(one_shot("method=fafi"))
    last = records(federation)[-1].snapshot
    server, merged = merge_latest(federation, last.own)
    assert_same(server.model, last.server.model)
    assert merged.model is server.model
    assert [client.client for client in merged.clients] == [0, 1, 2]
    assert [sum(client.counts) for client in merged.clients] == [client.samples for client in merged.clients]


def test_who_has_nothing_to_train_on_is_replaced_by_somebody_who_has(federation_of, monkeypatch):
    federation = federation_of(tiny("partition.clients=6", "server.fraction=0.5"))
    usual = cohort(federation, 0)
    assert len(usual) == 3
    idle = set(usual[:2])
    roster = replace(federation.roster, is_idle=lambda client, step: client in idle)
    monkeypatch.setitem(federation.__dict__, "roster", roster)
    drawn = cohort(federation, 0)
    assert len(drawn) == 3
    assert usual[2] in drawn
    assert not idle & set(drawn)
    assert cohort(federation, 0) == drawn
    idle |= set(range(5)) - {usual[2]}
    assert set(cohort(federation, 0)) == set(range(6)) - idle  # all that there are


def test_a_stream_whose_users_come_one_after_another_trains_in_every_round(tmp_path):
    rows = [f"{user},{11 * user + at},{100 * user + at}" for user in range(14) for at in range(8)]
    (tmp_path / "histories.csv").write_text("\n".join(["user,item,time", *rows]), encoding="utf-8")
    overrides = ["data=table", "data.file=histories.csv", "data.split=slices", "data.slices=4", "rounds=6"]
    small = ["model.width=8", "model.blocks=1", "model.length=5", "server.fraction=0.1", "client.batch=1"]
    config = load("rec/sasrec", [*overrides, *small]).config
    steps = records(build(config, tmp_path))
    assert len(steps) == 6
    assert all(len(rows_of(step, "samples")) == 1 for step in steps)


def test_a_server_optimiser_starts_anew_at_each_one_shot_checkpoint(federation_of):
    federation = federation_of(one_shot("method=fedavgm", "method.lr=0.5", "method.beta=0.9"))
    last = records(federation)[-1].snapshot
    mean = records(federation_of(one_shot()))[-1].snapshot.server.model
    for name, start in federation.start.items():
        assert torch.allclose(last.server.model[name], start + 0.5 * (mean[name] - start), rtol=1e-4, atol=1e-6)
