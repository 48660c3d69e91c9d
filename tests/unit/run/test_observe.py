from __future__ import annotations

import pytest

from equipoise.core.values import Row
from equipoise.evaluate.judge import SampleJudge
from equipoise.run import observe
from tests.conftest import assert_same, one_shot, records, tiny

from .conftest import rows_of


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


def test_scores_become_rows_of_their_step(federation_of):
    scores = {(None, "accuracy/merged"): 0.5, (2, "proto/norm"): 1.5}
    expected = [(None, "accuracy/merged", 0.5), (2, "proto/norm", 1.5)]
    for config, round_ in ((tiny(), 4), (one_shot(), None)):
        rows = observe.rows_of(federation_of(config), scores, 4)
        assert rows == [Row(4, round_, *row) for row in expected]


@pytest.mark.parametrize("config", [tiny("rounds=6"), one_shot(epochs=6, checkpoints=6)])
def test_patience_ends_a_run_of_images_that_validation_no_longer_likes(config, monkeypatch):
    """Validation rises twice and falls: with a patience of two the fifth is the last, and the third is kept."""
    curve = iter([0.1, 0.2, 0.3, 0.25, 0.2, 0.9])
    scored = SampleJudge.observe

    def observed(self, merged, own, step, is_last, answers):
        scores, kept = scored(self, merged, own, step, is_last, answers)
        value = next(curve) if not is_last else 0.2
        return scores | {(None, "accuracy/validation"): value}, kept

    monkeypatch.setattr(SampleJudge, "observe", observed)
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
