from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from equipoise.core.errors import ClientError
from equipoise.core.values import ClientFailure, ClientUpdate, Event, State
from equipoise.engine.local import Local
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import federate, first_snapshot
from tests.conftest import assert_same, nobody, numbers, one_shot, records, tiny

from .conftest import Meddling, not_finite, rows_of


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


def test_a_one_shot_checkpoint_only_observes(federation_of):
    """How often a run is scored changes nothing but how often it is scored."""
    often, once = (records(federation_of(one_shot(epochs=4, checkpoints=n))) for n in (4, 1))
    assert_same(often[-1].snapshot.server.model, once[-1].snapshot.server.model)
    assert rows_of(often[-1], "accuracy/merged") == rows_of(once[-1], "accuracy/merged")


def test_a_client_that_fails_stops_itself_not_the_federation():
    federation = build(tiny("rounds=2", "engine.together=1"))
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


def test_what_happened_while_clients_answered_is_written_down_with_the_step():
    """At the last one too, after which nobody asks the engine again."""

    class Restless(Meddling):
        def map(self, tasks):
            if tasks[0].question is not None:
                self.happened.append(Event("worker-lost", "it died, and was run again", tasks[0].step, 0))
            return super().map(tasks)

    federation = build(one_shot("server.predict=energy-gate", "evaluate.beside=never"))
    engine = Restless(federation.site, {})
    steps = list(federate(federation, engine, first_snapshot(federation), 0, nobody))
    assert [[(event.kind, event.step) for event in step.events] for step in steps] == [
        [("worker-lost", 0)],
        [("worker-lost", 1)],
    ]


def test_a_client_without_an_answer_ends_the_run_by_name():
    class Mute(Local):
        def map(self, tasks):
            for task, result in zip(tasks, super().map(tasks), strict=True):
                is_lost = task.question is not None and task.client == 1
                yield ClientFailure(1, "worker-lost", "its worker died; dropped") if is_lost else result

    federation = build(one_shot("server.predict=energy-gate", "evaluate.beside=never"))
    with pytest.raises(ClientError, match="client 1 gave no answer to the question 'energies': its worker") as caught:
        list(federate(federation, Mute(federation.site), first_snapshot(federation), 0, nobody))
    assert caught.value.where == "checkpoint 1"
    assert "server.predict" in caught.value.fix


def test_a_one_shot_client_that_fails_stays_stopped_and_keeps_its_last_good_model():
    federation = build(one_shot("engine.together=1", epochs=3, checkpoints=3))
    engine = Meddling(federation.site, {(0, 2): not_finite, (1, 1): not_finite})
    steps = list(federate(federation, engine, first_snapshot(federation), 0, nobody))
    assert engine.asked == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]
    assert [sorted(step.snapshot.stopped) for step in steps] == [[2], [1, 2], [1, 2]]
    assert_same(steps[2].snapshot.own[1].model, steps[0].snapshot.own[1].model)
    assert 2 not in steps[2].snapshot.own
    assert rows_of(steps[2], "accuracy/test").keys() == {0, 1}


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


class Eager(Local):
    """Notes when it is asked, as an engine does whose workers begin at once."""

    def __init__(self, site, diary: list[str]) -> None:
        super().__init__(site)
        self.diary = diary

    def map(self, tasks):
        what = f"{'train' if tasks[0].question is None else 'ask'} {tasks[0].step}"
        self.diary += [what] if self.diary[-1:] != [what] else []  # several questions are one entry
        return super().map(tasks)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ([], ["train 0", "train 1", "score 0", "train 2", "score 1", "ask 2", "score 2"]),
        # where every checkpoint shows all, clients answer for it before they train on
        (
            ["evaluate.beside=each"],
            ["train 0", "ask 0", "train 1", "score 0", "ask 1", "train 2", "score 1", "ask 2", "score 2"],
        ),
        # any round may turn out to be the last, and is asked what the last one is asked
        (
            ["evaluate.patience=9"],
            ["train 0", "ask 0", "score 0", "train 1", "ask 1", "score 1", "train 2", "ask 2", "score 2"],
        ),
    ],
)
def test_a_round_is_scored_while_the_next_one_trains_unless_scores_may_end_the_run(monkeypatch, settings, expected):
    federation = build(tiny("rounds=3", *settings))
    diary: list[str] = []
    observe = type(federation.judge).observe

    def noted(self, merged, own, step, is_last, answers):
        diary.append(f"score {step}")
        return observe(self, merged, own, step, is_last, answers)

    monkeypatch.setattr(type(federation.judge), "observe", noted)
    list(federate(federation, Eager(federation.site, diary), first_snapshot(federation), 0, nobody))
    assert diary == expected
