"""What holds for every table of interactions: nothing lost, nothing invented, nothing seen before its time."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from equipoise.config.blocks import InteractionOptions
from equipoise.core.errors import DataError
from equipoise.data.held_out import hold_out
from equipoise.data.interactions import Interactions
from equipoise.data.rows import interactions_of, rows_of

often = settings(max_examples=150, deadline=None)
Line = tuple[int, int, int]
"""User, item, moment."""


@st.composite
def tables(draw: st.DrawFn) -> list[Line]:
    """Three or more rows of each user, in any order, with moments that often agree; no row twice."""
    lines: list[Line] = []
    for user in draw(st.lists(st.integers(0, 50), min_size=1, max_size=6, unique=True)):
        pairs = st.tuples(st.integers(0, 12), st.integers(0, 15))
        lines += [(user, *pair) for pair in draw(st.lists(pairs, min_size=3, max_size=12, unique=True))]
    moments = {(user, moment) for user, _, moment in lines}
    assume(len(moments) > len({user for user, _, _ in lines}))  # there is an order
    return draw(st.permutations(lines))


def read(lines: list[Line], **options: object) -> Interactions:
    users, items, times = (np.array(column) for column in zip(*lines, strict=True))
    return interactions_of("toy", rows_of(users, items, times, times, "here"), InteractionOptions(**options))


def written(data: Interactions) -> list[Line]:
    """The rows again, user by user."""
    owner = np.repeat(data.user_ids, data.lengths)
    assert data.times is not None
    return list(zip(owner.tolist(), data.item_ids[data.items].tolist(), data.times.tolist(), strict=True))


@often
@given(tables())
def test_every_interaction_is_kept_once_in_stable_order(lines: list[Line]) -> None:
    data = read(lines)
    assert written(data) == sorted(lines, key=lambda line: (line[0], line[2]))
    assert any("sorted" in note for note in data.notes) == any(
        own != sorted(own, key=lambda line: line[2])
        for own in ([line for line in lines if line[0] == user] for user in {line[0] for line in lines})
    )


@often
@given(tables())
def test_no_id_stands_for_nothing(lines: list[Line]) -> None:
    data = read(lines)
    assert np.unique(data.items).tolist() == list(range(data.n_items))
    assert data.item_ids.tolist() == sorted({item for _, item, _ in lines})
    assert data.user_ids.tolist() == sorted({user for user, _, _ in lines})
    assert data.bounds[0] == 0
    assert data.bounds[-1] == len(lines)


@often
@given(tables(), st.data())
def test_a_subset_is_the_same_histories_of_fewer_users(lines: list[Line], data: st.DataObject) -> None:
    whole = read(lines)
    count = data.draw(st.integers(1, whole.n_users))
    subset, seed = data.draw(st.sampled_from(["top", "random"])), data.draw(st.integers(0, 5))
    part = read(lines, subset=subset, users=count, subset_seed=seed)
    assert part.n_users == count
    kept = set(part.user_ids.tolist())
    assert written(part) == [line for line in written(whole) if line[0] in kept]
    assert np.unique(part.items).tolist() == list(range(part.n_items))
    if subset == "top":
        length = Counter(user for user, _, _ in lines)
        assert sorted(kept) == sorted(sorted(length, key=lambda user: (-length[user], user))[:count])


@often
@given(tables(), st.data())
def test_dropped_duplicates_leave_what_was_there(lines: list[Line], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(lines), min_size=1, max_size=5))
    dropped = read([*lines, *again], duplicates="drop")
    assert written(dropped) == written(read(lines))
    counts = "1 row" if len(again) == 1 else f"{len(again)} rows"
    assert f"The reader dropped {counts} that repeat another row." in dropped.notes


@often
@given(tables())
def test_leave_one_out_covers_each_history_and_its_targets_are_not_in_their_input(lines: list[Line]) -> None:
    parts = hold_out(read(lines), InteractionOptions())
    n = parts.interactions.lengths
    assert (parts.train_end == parts.validation_at).all()
    assert (parts.validation_at + 1 == parts.test_at).all()
    assert (parts.test_at + 1 == n).all()
    assert (parts.train_end >= 1).all()


@often
@given(tables(), st.floats(0.05, 0.9))
def test_a_temporal_split_never_looks_ahead(lines: list[Line], held_out: float) -> None:
    try:
        parts = hold_out(read(lines), InteractionOptions(split="temporal", held_out=held_out, short="drop"))
    except DataError:
        return  # too few moments, or nobody with a target: said, not guessed
    data, (first, second) = parts.interactions, parts.moments
    times = np.array([time for _, _, time in lines])
    assert (times >= first).sum() >= held_out * len(times) - 1e-6
    assert (times > first).sum() < held_out * len(times)
    for user in range(data.n_users):
        own = data.times[data.bounds[user] : data.bounds[user + 1]]
        assert (own[: parts.train_end[user]] < first).all()
        assert (own[parts.train_end[user] :] >= first).all()
        for at, low, high in ((parts.validation_at[user], first, second), (parts.test_at[user], second, np.inf)):
            inside = np.flatnonzero((own >= low) & (own < high))
            assert at == (inside[0] if len(inside) else -1)


@often
@given(tables(), st.integers(2, 6), st.sampled_from(["moments", "positions"]))
def test_slices_cover_each_history_in_order(lines: list[Line], count: int, cut: str) -> None:
    data = read(lines)
    try:
        parts = hold_out(data, InteractionOptions(split="slices", slices=count, cut=cut))
    except DataError:
        assert cut == "moments"
        return
    assert parts.slices is not None
    assert parts.slices.shape == (data.n_users, count + 1)
    assert (parts.slices[:, 0] == 0).all()
    assert (parts.slices[:, -1] == data.lengths).all()
    assert (np.diff(parts.slices, axis=1) >= 0).all()
    if cut == "moments":
        edges = [-np.inf, *parts.moments, np.inf]
        for user in range(data.n_users):
            own = data.times[data.bounds[user] : data.bounds[user + 1]]
            for s in range(count):
                inside = own[parts.slices[user, s] : parts.slices[user, s + 1]]
                assert ((inside >= edges[s]) & (inside < edges[s + 1])).all()
    else:
        assert np.ptp(np.diff(parts.slices, axis=1), axis=1).max() <= 1
