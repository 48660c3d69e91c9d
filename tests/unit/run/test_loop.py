from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from equipoise.config.loader import load
from equipoise.core.errors import ClientError
from equipoise.core.values import ClientState, ClientUpdate, Event, Row, State
from equipoise.engine.local import Local
from equipoise.evaluate.judge import SampleJudge
from equipoise.run import loop
from equipoise.run.advance import cohort, merge_latest, plan
from equipoise.run.build import build
from equipoise.run.loop import federate, first_snapshot
from tests.conftest import assert_same, nobody, numbers, one_shot, records, tiny, update

from .conftest import Meddling, not_finite

BYTES = 4 * (192 * 16 + 16 + 16 * 10 + 10)  # the tiny perceptron in float32


def rows_of(record, name: str) -> dict:
    return {row.client: row.value for row in record.rows if row.name == name}


def assert_mean(model: State, updates: Sequence[ClientUpdate]) -> None:
    """The mean by samples, to the last digit of float32: products may be added in another order, in float64."""
    n = sum(u.samples for u in updates)
    for name, tensor in model.items():
        by_hand = sum(u.samples / n * u.model[name].double() for u in updates)
        torch.testing.assert_close(tensor.double(), by_hand, rtol=2**-23, atol=1e-15)


def test_one_round_of_fedavg_by_hand(federation_of):
    federation = federation_of(tiny())
    engine = Local(federation.site)
    updates = list(engine.map(plan(federation, first_snapshot(federation), 0)))
    assert sum(u.samples for u in updates) == 180
    first = next(federate(federation, engine, first_snapshot(federation), 0, nobody))
    assert_mean(first.snapshot.server.model, updates)


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


def test_a_one_shot_checkpoint_only_observes(federation_of):
    """How often a run is scored changes nothing but how often it is scored."""
    often, once = (records(federation_of(one_shot(epochs=4, checkpoints=n))) for n in (4, 1))
    assert_same(often[-1].snapshot.server.model, once[-1].snapshot.server.model)
    assert rows_of(often[-1], "accuracy/merged") == rows_of(once[-1], "accuracy/merged")


def test_a_server_optimiser_starts_anew_at_each_one_shot_checkpoint(federation_of):
    federation = federation_of(one_shot("method=fedavgm", "method.lr=0.5", "method.beta=0.9"))
    last = records(federation)[-1].snapshot
    mean = records(federation_of(one_shot()))[-1].snapshot.server.model
    for name, start in federation.start.items():
        assert torch.allclose(last.server.model[name], start + 0.5 * (mean[name] - start), rtol=1e-4, atol=1e-6)


def test_where_nothing_is_shared_clients_keep_their_own_and_the_server_its_start(federation_of):
    federation = federation_of(tiny("method=local-only"))
    steps = records(federation)
    assert_same(steps[-1].snapshot.server.model, federation.start)
    assert steps[-1].snapshot.own.keys() == {0, 1, 2}
    assert all(task.own.model for task in plan(federation, steps[0].snapshot, 1))
    assert not rows_of(steps[-1], "accuracy/merged")
    assert rows_of(steps[-1], "accuracy/clients")


def test_a_client_that_fails_stops_itself_not_the_federation():
    federation = build(tiny("rounds=2"))
    engine = Meddling(federation.site, {(0, 1): not_finite})
    steps = list(federate(federation, engine, first_snapshot(federation), 0, nobody))
    (event,) = steps[0].events
    assert (event.kind, event.client, event.step) == ("client-non-finite", 1, 0)
    assert event.message == "loss/base is nan"
    assert rows_of(steps[0], "loss/base").keys() == {0, 2}
    others = [u for u in Local(federation.site).map(plan(federation, first_snapshot(federation), 0)) if u.client != 1]
    assert_mean(steps[0].snapshot.server.model, others)
    assert engine.asked == [(s, k) for s in range(2) for k in range(3)]  # with rounds it is asked again
    assert rows_of(steps[1], "loss/base").keys() == {0, 1, 2}


def test_what_happened_in_the_engine_is_written_down_with_the_step():
    federation = build(tiny("rounds=1"))
    engine = Meddling(federation.site, {(0, 1): not_finite})
    engine.happened = [Event("worker-lost", "it died", 0, 2)]
    (step,) = federate(federation, engine, first_snapshot(federation), 0, nobody)
    assert [event.kind for event in step.events] == ["worker-lost", "client-non-finite"]


def test_a_one_shot_client_that_fails_stays_stopped_and_keeps_its_last_good_model():
    federation = build(one_shot(epochs=3, checkpoints=3))
    engine = Meddling(federation.site, {(0, 2): not_finite, (1, 1): not_finite})
    steps = list(federate(federation, engine, first_snapshot(federation), 0, nobody))
    assert engine.asked == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]
    assert [sorted(step.snapshot.stopped) for step in steps] == [[2], [1, 2], [1, 2]]
    assert_same(steps[2].snapshot.own[1].model, steps[0].snapshot.own[1].model)
    assert 2 not in steps[2].snapshot.own
    assert rows_of(steps[2], "accuracy/test").keys() == {0, 1}


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

    federation = build(tiny("rounds=1"))
    engine = Meddling(federation.site, {(0, 0): misshapen})
    (step,) = federate(federation, engine, first_snapshot(federation), 0, nobody)
    (event,) = step.events
    assert (event.kind, event.client) == ("update-refused", 0)
    assert "head.bias is torch.float32 (3,), expected torch.float32 (10,)" in event.message
    assert rows_of(step, "update/norm").keys() == {1, 2}


def traffic_of(config) -> list[tuple[float, float]]:
    return [(rows_of(r, "bytes/down")[None], rows_of(r, "bytes/up")[None]) for r in records(config)]


def test_bytes_with_rounds_go_down_and_up_each_time():
    assert traffic_of(tiny("rounds=2")) == [(3 * BYTES, 3 * BYTES)] * 2
    assert traffic_of(tiny("rounds=2", "server.fraction=0.34")) == [(BYTES, BYTES)] * 2


def test_bytes_with_one_shot_go_down_first_and_up_last():
    assert traffic_of(one_shot(epochs=3, checkpoints=3)) == [(3 * BYTES, 0), (0, 0), (0, 3 * BYTES)]


@pytest.mark.parametrize("method", ["local-only", "centralised"])
def test_no_bytes_where_nothing_is_shared(method):
    assert traffic_of(tiny(f"method={method}")) == [(0, 0)] * 2


def test_bytes_of_a_client_that_failed_came_down_only():
    federation = build(tiny("rounds=1"))
    engine = Meddling(federation.site, {(0, 1): not_finite})
    (step,) = federate(federation, engine, first_snapshot(federation), 0, nobody)
    assert (rows_of(step, "bytes/down")[None], rows_of(step, "bytes/up")[None]) == (3 * BYTES, 2 * BYTES)


def test_scored_every_nth_step_and_always_at_the_end(federation_of):
    steps = records(federation_of(tiny("rounds=5", "evaluate.every=2")))
    assert [bool(rows_of(step, "accuracy/merged")) for step in steps] == [False, True, False, True, True]
    assert all(rows_of(step, "loss/base").keys() == {0, 1, 2} for step in steps)


def test_rows_know_their_round_and_one_shot_has_none(federation_of):
    assert {(row.step, row.round) for r in records(federation_of(tiny())) for row in r.rows} == {(0, 0), (1, 1)}
    assert {(row.step, row.round) for r in records(federation_of(one_shot())) for row in r.rows} == {
        (0, None),
        (1, None),
    }


def test_what_is_written_down_at_each_step(federation_of):
    step = records(federation_of(tiny("method=fedprox")))[0]
    clients = {row.name for row in step.rows if row.client is not None}
    server = {row.name for row in step.rows if row.client is None}
    assert clients == {
        "loss/base", "loss/cls", "loss/align", "accuracy/train",
        *(name + last for name in ("lam", "schedule", "lam/used", "scale/base") for last in ("", "/last")),
        "grad/norm", "grad/clip", "grad/norm/cls", "grad/norm/align", "grad/cosine", "steps",
        "samples", "seconds", "update/norm", "update/cosine", "accuracy/test", "input/mean/train", "input/std/train",
    }  # fmt: skip
    assert server == {
        "accuracy/merged", "loss/merged", "accuracy/validation", "accuracy/best_client", "accuracy/clients",
        "input/mean/eval", "input/std/eval", "bytes/down", "bytes/up", "bytes/told", "bytes/asked",
        *(f"recall/{c}" for c in range(10)),
    }  # fmt: skip


def test_each_answer_is_ticked(federation_of):
    heard = []
    federation = federation_of(tiny())
    list(
        federate(
            federation, Local(federation.site), first_snapshot(federation), 0, lambda *tick: heard.append(tick[:3])
        )
    )
    assert heard == [(step, done, 3) for step in range(2) for done in (1, 2, 3)]


@pytest.mark.parametrize("config", [tiny("rounds=3", "method=fedadam"), one_shot(epochs=3, checkpoints=3)])
def test_going_on_from_a_snapshot_is_never_having_stopped(config, federation_of):
    federation = federation_of(config)
    whole = records(federation)
    rest = list(federate(federation, Local(federation.site), whole[0].snapshot, 1, nobody))
    assert numbers(rest) == {key: value for key, value in numbers(whole).items() if key[0] > 0}


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


def beside_of(record) -> set[str]:
    others = ("accuracy/merged/", "accuracy/validation/", "accuracy/probe")
    return {row.name for row in record.rows if row.name.startswith(others)}


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        (tiny("rounds=3"), [False, False, True]),
        (one_shot(epochs=3, checkpoints=3), [True, True, True]),
        (one_shot("evaluate.beside=last", epochs=3, checkpoints=3), [False, False, True]),
        (one_shot("evaluate.beside=never", epochs=3, checkpoints=3), [False, False, False]),
        (one_shot("evaluate.clients=2", epochs=3, checkpoints=3), [False, False, False]),  # of three: too many to ask
        (tiny("method=local-only", "rounds=3"), [False, False, False]),
    ],
)
def test_when_a_step_shows_every_way_to_predict(config, shown, federation_of):
    steps = records(federation_of(config))
    assert [{"accuracy/probe", "accuracy/merged/common-gate"} <= beside_of(step) for step in steps] == shown
    assert [bool(beside_of(step)) for step in steps] == shown


@pytest.mark.parametrize("config", [tiny("method=fafi", "rounds=2"), one_shot("method=fafi", "evaluate.every=2")])
def test_prototypes_are_measured_at_every_step_and_kept_for_pictures_at_the_last(config, federation_of):
    first, last = records(federation_of(config))
    for step in (first, last):
        assert rows_of(step, "proto/norm").keys() == {0, 1, 2}
        assert rows_of(step, "proto/spread").keys() == {None}
    assert first.pictures == {}
    names = {"labels", "prototypes", "anchors"} | {
        f"{kind}/{k}" for kind in ("features", "prototypes") for k in range(3)
    }
    assert last.pictures.keys() == names
    assert last.pictures["features/0"].shape == (60, 16)  # as many test images as there are


def test_clients_as_the_server_last_heard_of_them_give_its_model_again(federation_of):
    federation = federation_of(one_shot("method=fafi"))
    last = records(federation)[-1].snapshot
    server, merged = merge_latest(federation, last.own)
    assert_same(server.model, last.server.model)
    assert merged.model is server.model
    assert [client.client for client in merged.clients] == [0, 1, 2]
    assert [sum(client.counts) for client in merged.clients] == [client.samples for client in merged.clients]


def test_scores_become_rows_of_their_step(federation_of):
    scores = {(None, "accuracy/merged"): 0.5, (2, "proto/norm"): 1.5}
    expected = [(None, "accuracy/merged", 0.5), (2, "proto/norm", 1.5)]
    for config, round_ in ((tiny(), 4), (one_shot(), None)):
        rows = loop.rows_of(federation_of(config), scores, 4)
        assert rows == [Row(4, round_, *row) for row in expected]


class Eager(Local):
    """Notes when it is asked, as an engine does whose workers begin at once."""

    def __init__(self, site, diary: list[str]) -> None:
        super().__init__(site)
        self.diary = diary

    def map(self, tasks):
        self.diary.append(f"train {tasks[0].step}")
        return super().map(tasks)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ([], ["train 0", "train 1", "score 0", "train 2", "score 1", "score 2"]),
        (["evaluate.patience=9"], ["train 0", "score 0", "train 1", "score 1", "train 2", "score 2"]),
    ],
)
def test_a_round_is_scored_while_the_next_one_trains_unless_scores_may_end_the_run(monkeypatch, settings, expected):
    federation = build(tiny("rounds=3", *settings))
    diary: list[str] = []
    observe = type(federation.judge).observe

    def noted(self, merged, own, step, is_last):
        diary.append(f"score {step}")
        return observe(self, merged, own, step, is_last)

    monkeypatch.setattr(type(federation.judge), "observe", noted)
    list(federate(federation, Eager(federation.site, diary), first_snapshot(federation), 0, nobody))
    assert diary == expected


def test_who_has_nothing_to_train_on_is_replaced_by_somebody_who_has(federation_of, monkeypatch):
    federation = federation_of(tiny("partition.clients=6", "server.fraction=0.5"))
    usual = cohort(federation, 0)
    assert len(usual) == 3
    idle = set(usual[:2])
    monkeypatch.setattr(type(federation.site), "is_idle", lambda site, client, step: client in idle)
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


@pytest.mark.parametrize("config", [tiny("rounds=6"), one_shot(epochs=6, checkpoints=6)])
def test_patience_ends_a_run_of_images_that_validation_no_longer_likes(config, monkeypatch):
    """Validation rises twice and falls: with a patience of two the fifth is the last, and the third is kept."""
    curve = iter([0.1, 0.2, 0.3, 0.25, 0.2, 0.9])
    scored = SampleJudge.observe

    def observe(self, merged, own, step, is_last):
        scores, kept = scored(self, merged, own, step, is_last)
        value = next(curve) if not is_last else 0.2
        return scores | {(None, "accuracy/validation"): value}, kept

    monkeypatch.setattr(SampleJudge, "observe", observe)
    settings = config.evaluate.model_copy(update={"patience": 2})
    steps = records(config.model_copy(update={"evaluate": settings}))
    assert [record.step for record in steps] == [0, 1, 2, 3, 4]
    last = steps[-1]
    axis = "checkpoint" if config.is_one_shot else "round"
    (event,) = [event for event in last.events if event.kind == "stopped-early"]
    assert event.message.startswith(f"stopped early at {axis} 5 of 6")
    assert f"best at {axis} 3, 0.3" in event.message
    assert last.pictures  # it ends as a run that was planned to end there
    assert rows_of(last, "bytes/up")[None] > 0
    best = last.snapshot.best
    assert best is not None
    assert (best.step, best.value) == (2, 0.3)
    assert_same(best.model, steps[2].snapshot.server.model)


def test_without_patience_nothing_is_chosen_and_nothing_ends_early():
    steps = records(tiny("rounds=3"))
    assert len(steps) == 3
    assert steps[-1].snapshot.best is None
