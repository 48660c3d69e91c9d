"""Generated histories: what is planted is there, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from equipoise.data.held_out import hold_out
from equipoise.data.interactions import Interactions
from equipoise.data.planted import CLOCK, FOLLOWERS, PlantedOptions, make_crowd, make_world, planted, planted_table
from equipoise.features.load import planted_features

MANY = {"users": 600, "drift": 0.0}
TOP = 10


def seen_before(data: Interactions) -> np.ndarray:
    """[U, V] how often each user met each item, the last one aside."""
    seen = np.zeros((data.n_users, data.n_items))
    for user in range(data.n_users):
        np.add.at(seen[user], data.history(user)[:-1], 1)
    return seen


def hit_rate(data: Interactions, scores: np.ndarray) -> float:
    """Share of users whose last item is among the ten best they had not met."""
    fresh = np.where(seen_before(data) > 0, -np.inf, scores)
    target = fresh[np.arange(data.n_users), data.items[data.bounds[1:] - 1]]
    better = (fresh > target[:, None]).sum(axis=1) + ((fresh == target[:, None]).sum(axis=1) - 1) / 2
    return float((better < TOP).mean())


def popularity(data: Interactions) -> np.ndarray:
    return np.tile(seen_before(data).sum(axis=0), (data.n_users, 1))


def co_occurrence(data: Interactions) -> np.ndarray:
    """Ids alone: items met by those who met the user's items, cosine over users."""
    seen = (seen_before(data) > 0).astype(float)
    owners = np.maximum(seen.sum(axis=0), 1)
    together = seen.T @ seen / np.sqrt(np.outer(owners, owners))
    np.fill_diagonal(together, 0)
    return seen @ together


def markov(data: Interactions) -> np.ndarray:
    """Ids alone: how often an item came right after the user's last one."""
    after = np.zeros((data.n_items, data.n_items))
    for user in range(data.n_users):
        known = data.history(user)[:-1]
        np.add.at(after, (known[:-1], known[1:]), 1)
    return after[data.items[data.bounds[1:] - 2]]


def content(data: Interactions, options: PlantedOptions) -> np.ndarray:
    """Features alone: ridge regression of what a user met on what the items show."""
    rows = np.hstack([modality.rows for modality in planted_features(options).values()])
    rows = rows - rows.mean(axis=0)
    seen = (seen_before(data) > 0).astype(float)
    centred = seen - seen.mean(axis=0)
    fit = np.linalg.solve(rows.T @ rows + 3 * np.eye(rows.shape[1]), rows.T @ centred.T)
    return (rows @ fit).T


def with_markov(data: Interactions, taste: np.ndarray) -> np.ndarray:
    """Counts of who followed whom, smoothed by a guess at the user's taste."""
    standard = (taste - taste.mean(axis=1, keepdims=True)) / taste.std(axis=1, keepdims=True)
    guess = np.exp(1.5 * standard)
    return markov(data) + 300 * guess / guess.sum(axis=1, keepdims=True)


def deviation(rate: float, users: int) -> float:
    return float(np.sqrt(max(rate * (1 - rate), 0.01) / users))


def test_content_beats_popularity_and_ids_when_the_signal_is_on():
    options = PlantedOptions(signal=1.0, **MANY)
    data = planted(options, None)
    shown = hit_rate(data, content(data, options))
    for ids in (popularity(data), co_occurrence(data)):
        assert shown > hit_rate(data, ids) + 3 * deviation(shown, data.n_users)


def test_content_is_no_better_than_chance_when_the_signal_is_off():
    options = PlantedOptions(signal=0.0, **MANY)
    data = planted(options, None)
    chance = TOP / (data.n_items - data.lengths.mean())
    assert hit_rate(data, content(data, options)) < chance + 3 * deviation(chance, data.n_users)
    assert hit_rate(data, co_occurrence(data)) > chance + 3 * deviation(chance, data.n_users)


@pytest.mark.parametrize("signal", [0.0, 1.0])
def test_content_adds_to_markov_what_ids_cannot_only_with_a_signal(signal):
    options = PlantedOptions(signal=signal, **MANY)
    data = planted(options, None)
    alone = hit_rate(data, markov(data))
    shown, met, popular = (
        hit_rate(data, with_markov(data, taste))
        for taste in (content(data, options), co_occurrence(data), popularity(data))
    )
    if signal:
        assert shown > met > popular
        assert shown > alone + 3 * deviation(alone, data.n_users)
    else:
        assert met > alone
        assert shown < min(met, alone)


def test_more_signal_more_lift_and_none_without():
    lifts = {}
    for signal in (0.0, 0.5, 1.0):
        checks = [modality.check for modality in planted_features(PlantedOptions(signal=signal)).values()]
        lifts[signal] = [check.deviations for check in checks]
    assert max(map(abs, lifts[0.0])) < 4
    assert min(lifts[0.5]) > 20
    assert min(np.subtract(lifts[1.0], lifts[0.5])) > 0


def test_ids_alone_learn_who_follows_whom():
    data = planted(PlantedOptions(signal=0.0, follow=0.5, **MANY), None)
    plain = planted(PlantedOptions(signal=0.0, follow=0.0, **MANY), None)
    assert hit_rate(data, markov(data)) > 0.3 > hit_rate(plain, markov(plain))


def test_the_share_of_followers_is_that_of_the_formula():
    """A step follows with probability `follow`, unless its follower was met before; by chance with about 3/V more."""
    options = PlantedOptions(follow=0.5, items=2000, length=20)
    data, world = planted(options, None), make_world(options)
    steps = [(a, b) for u in range(data.n_users) for a, b in _steps(data.item_ids[data.history(u)])]
    share = np.mean([b in world.followers[a] for a, b in steps])
    assert share == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / len(steps)) + 0.03)
    assert world.followers.shape == (2000, FOLLOWERS)


def _steps(history: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(history[:-1].tolist(), history[1:].tolist(), strict=True))


def test_choices_follow_the_softmax_of_the_formula():
    """The first choice of many users with one taste: frequencies within four standard deviations of the softmax."""
    from equipoise.data.planted import _choices, weights

    options = PlantedOptions(users=4000, items=12, length=6, drift=0.0)
    world, crowd = make_world(options), make_crowd(options)
    alike = type(crowd)(
        crowd.times, np.repeat(crowd.likes_shown[:, :1], 4000, 1), np.repeat(crowd.likes_hidden[:, :1], 4000, 1),
        crowd.changes,
    )  # fmt: skip
    first = _choices(options, world, alike)[:, 0]
    weight = weights(options, world, alike)[0, 0]
    share = weight / weight.sum()
    found = np.bincount(first, minlength=12) / 4000
    assert np.allclose(found, share, atol=4 * np.sqrt(0.25 / 4000))


def test_interest_changes_where_it_is_recorded():
    options = PlantedOptions(users=400, drift=0.5, drift_at=0.6)
    data, crowd, world = planted(options, None), make_crowd(options), make_world(options)
    changed = np.flatnonzero(data.changes >= 0)
    assert len(changed) == 200
    for user in changed:
        times = data.times[data.bounds[user] : data.bounds[user + 1]]
        assert times[data.changes[user] - 1] < 0.6 * CLOCK <= times[data.changes[user]]
    before, after = (_liking(data, crowd.likes_shown[side], world, changed) for side in (0, 1))
    for liked, not_liked in (before, after[::-1]):
        assert liked > 1
        assert abs(not_liked) < 0.2


def _liking(data, interest, world, users) -> list[float]:
    """Mean ⟨interest, z⟩ of the items met before and after the change."""
    parts = []
    for user in users:
        cut, z = data.changes[user], world.shown[data.item_ids[data.history(user)]] @ interest[user]
        parts.append((z[:cut].mean(), z[cut:].mean()))
    return np.mean(parts, axis=0).tolist()


def test_old_and_new_interests_are_at_right_angles():
    crowd = make_crowd(PlantedOptions())
    for likes in (crowd.likes_shown, crowd.likes_hidden):
        assert np.allclose(np.linalg.norm(likes, axis=2), 1)
        assert np.allclose((likes[0] * likes[1]).sum(axis=1), 0)


@pytest.mark.parametrize(("drift", "count"), [(0.0, 0), (1.0, 200)])
def test_how_many_change(drift, count):
    assert (planted(PlantedOptions(drift=drift), None).changes >= 0).sum() == count


def test_no_item_twice_and_no_item_that_nobody_met():
    data = planted(PlantedOptions(users=5, items=400), None)
    for user in range(5):
        assert len(set(data.history(user))) == data.lengths[user]
    assert data.n_items < 400
    assert np.bincount(data.items).min() == 1
    rows = planted_features(PlantedOptions(users=5, items=400))["visual"].rows
    assert rows.shape == (data.n_items, 32)
    table = planted_table(PlantedOptions(users=5, items=400), "visual")[data.item_ids]
    assert np.allclose(rows, table / np.linalg.norm(table, axis=1, keepdims=True))


def test_sizes_are_those_of_the_options():
    options = PlantedOptions(users=50, items=100, length=20, visual_width=7, text_width=5)
    data, features = planted(options, None), planted_features(options)
    assert data.n_users == 50
    assert (data.lengths >= 10).all()
    assert (data.lengths <= 30).all()
    assert [modality.rows.shape[1] for modality in features.values()] == [7, 5]
    assert list(planted_features(PlantedOptions(visual=None))) == ["text"]
    assert data.notes == ()


def test_one_generator_seed_one_world():
    first, again, other = (planted(PlantedOptions(generator_seed=seed), None) for seed in (0, 0, 1))
    assert np.array_equal(first.items, again.items)
    assert not np.array_equal(first.items[:100], other.items[:100])


def test_all_splits_fit():
    data = planted(PlantedOptions(), None)
    for split in ("leave-one-out", "temporal", "slices"):
        assert hold_out(data, PlantedOptions(split=split)).interactions.n_users == 200


@pytest.mark.parametrize(
    "wrong",
    [{"items": 100}, {"signal": 1.1}, {"subset": "top"}, {"users": 1}, {"visual": "posters.npz"}, {"drift_at": 1.0}],
    ids=str,
)
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(ValidationError):
        PlantedOptions(**wrong)
