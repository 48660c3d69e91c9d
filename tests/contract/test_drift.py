"""Planted drift, in the judge of a built run: who changed is found, who did not stays silent."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.config.loader import load
from equipoise.data.interactions import Features, Interactions
from equipoise.evaluate.interest import away, centred
from equipoise.evaluate.recommender import UserPositions
from equipoise.evaluate.slice_judge import SliceJudge
from equipoise.run.build import build
from equipoise.server.predict import Merged
from tests.conftest import records

LONG = ("data.users=200", "data.length=300", "data.items=3000", "data.split=slices", "data.slices=10", "rounds=9")


@pytest.mark.parametrize("generator_seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_planted_drift_is_found_within_two_slices_and_the_others_stay_silent(generator_seed):
    federation = build(load("rec/feddmmr", [*LONG, f"data.generator_seed={generator_seed}"]).config)
    judge = federation.judge
    assert isinstance(judge, SliceJudge)
    changes, slices = judge.histories.interactions.changes, judge.histories.slices
    _, _, alarms = judge._watched
    drifted = np.flatnonzero(changes >= 0)
    at = [int(np.searchsorted(slices[user], changes[user], side="right")) - 1 for user in drifted]
    found = [alarms[user, first : first + 3].any() for user, first in zip(drifted, at, strict=True)]
    early = [alarms[user, :first].any() for user, first in zip(drifted, at, strict=True)]
    quiet = [*early, *alarms[changes < 0].any(1)]
    assert len(drifted) == 50
    assert np.mean(found) >= 0.85
    assert alarms[changes < 0].any(1).mean() <= 0.05
    assert np.mean(quiet) <= 0.05, "users who did not change, or not yet"


def test_away_by_hand():
    """Two items of one kind, then one of the same and one at right angles."""
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-2.0, -1.0]], dtype=np.float32)
    table = Features("visual", rows, np.ones(4, dtype=bool))
    assert rows.mean(0) == pytest.approx([0, 0])
    items = np.array([0, 1, 0, 2])
    data = Interactions("toy", items, np.array([0, 4]), None, np.arange(1), np.arange(4))
    values, seen = away({"visual": table}, data, np.array([[0, 2, 3, 4]]))
    assert seen.tolist() == [[False, True, True]]
    assert values[0] == pytest.approx([0, -1, 0])
    assert np.linalg.norm(centred(table), axis=1) == pytest.approx(1)


@pytest.mark.parametrize("own", ["method=local-only", "server.personal=[items]"])
def test_whoever_has_a_model_of_their_own_is_scored_by_it(own):
    settings = [
        "data.users=12",
        "data.split=slices",
        "data.slices=4",
        "rounds=3",
        "server.fraction=0.5",
        "client.lr=3.0",
    ]
    federation = build(load("rec/sasrec", [*settings, own]).config)
    judge, last = federation.judge, records(federation)[-1].snapshot
    assert isinstance(judge, SliceJudge)
    positions, merged = judge.positions(3), Merged(last.server.model, ())
    scores = judge.item_scorer.user_scores(merged, last.own, positions)
    assert 0 < len(last.own) <= 12
    for user in np.unique(positions.users).tolist():
        its = positions.users == user
        model = {**merged.model, **(last.own[user].model if user in last.own else {})}
        mine = UserPositions(positions.users[its], positions.at[its])
        assert torch.equal(scores[its], torch.cat(list(judge.item_scorer.scores(model, {}, last.own, mine))))
    assert not torch.allclose(scores, judge.item_scorer.user_scores(merged, {}, positions))


def test_samples_of_a_stream_are_those_of_all_slices_that_are_trained_on():
    federation = build(load("rec/sasrec", ["data.users=20", "data.split=slices", "data.slices=4", "rounds=3"]).config)
    slices = federation.judge.histories.slices
    expected = [max(0, int(slices[user, 3]) - 1) for user in range(20)]
    assert [federation.site.samples(user) for user in range(20)] == expected
    assert min(expected) >= 0


def test_what_stands_beside_a_slice_is_of_what_came_before_it():
    federation = build(load("rec/sasrec", ["data.users=20", "data.split=slices", "data.slices=4", "rounds=3"]).config)
    judge = federation.judge
    assert isinstance(judge, SliceJudge)
    data, slices = judge.histories.interactions, judge.histories.slices
    last = [max(0, min(b, a + 5) - max(1, a)) for a, b in slices[:, 3:5].tolist()]
    assert judge.tested == sum(last)
    found, _ = judge.observe(Merged(federation.start, ()), {}, 1, is_last=False)
    assert 0 < found[None, "hr@10/full/chance"] < 0.1
    before = [data.history(user)[: slices[user, 2]] for user in range(20)]
    times = np.bincount(np.concatenate(before), minlength=data.n_items)
    follow = np.zeros((data.n_items, data.n_items))
    for met in before:
        for gap in range(1, 6):
            np.add.at(follow, (met[:-gap], met[gap:]), 1 / gap)
    popular, markov = [], []
    positions = judge.positions(2)
    for user, at in zip(positions.users, positions.at, strict=True):
        seen, target = data.history(user)[:at], data.history(user)[at]
        others = np.setdiff1d(np.arange(data.n_items), [*seen, target])
        after = sum(np.sqrt(follow[item]) / back for back, item in enumerate(seen[::-1][:10], 1)).astype(np.float32)
        for scores, hits in ((times, popular), (after, markov)):
            above, level = (scores[others] > scores[target]).sum(), (scores[others] == scores[target]).sum()
            hits.append(1 + above + level / 2 <= 10)
    assert found[None, "hr@10/full/itempop"] == pytest.approx(np.mean(popular))
    assert found[None, "hr@10/full/markov"] == pytest.approx(np.mean(markov))
    assert np.mean(markov) > 0, "or nothing is compared"
    assert all(np.isfinite(value) for value in found.values())
    hits = [value for (_, name), value in found.items() if name == "hit@10/full"]
    assert len(hits) == len(np.unique(judge.positions(2).users))
