from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from equipoise.features.check import RawFeatures, check_features, problems
from tests.unit.data.histories import of_histories

V = 200


@pytest.fixture
def world(rng):
    """Items in two kinds, each user of one kind; rows that show the kind."""
    kind = rng.permutation(np.arange(V) % 2)
    data = of_histories(*[rng.choice(np.flatnonzero(kind == u % 2), 40, replace=False) for u in range(60)])
    assert data.n_items == V
    rows = (np.eye(2)[kind] @ rng.standard_normal((2, 6)) + 0.5 * rng.standard_normal((V, 6))).astype(np.float32)
    return data, rows, np.ones(V, bool)


def faults(world, rows=None, present=None, control="as-given") -> list[str]:
    data, whole, everyone = world
    raw = RawFeatures(
        "text", whole if rows is None else rows, everyone if present is None else present, "a.npz", control
    )
    found = problems(check_features(raw, data))
    assert all(error.where == "a.npz" and error.fix and error.exit_code == 2 for error in found)
    assert all(error.what.startswith("text features: ") for error in found)
    return [error.what.removeprefix("text features: ") for error in found]


def changed(world, count, value) -> np.ndarray:
    rows = world[1].copy()
    rows[:count] = value
    return rows


def test_a_good_table_passes(world):
    data, rows, present = world
    check = check_features(RawFeatures("text", rows, present), data)
    assert problems(check) == []
    assert (check.items, check.width, check.present) == (V, 6, 1)
    assert (check.non_finite, check.constant, check.zeros, check.duplicates) == (0, 0, 0, 0)
    norms = np.linalg.norm(rows, axis=1)
    assert check.norms == pytest.approx((norms.min() / np.median(norms), norms.max() / np.median(norms)))
    assert 1 < check.rank < 6
    assert check.lift > 0.1
    assert check.deviations > 20


def test_the_record_is_json_and_the_text_says_the_same(world):
    data, rows, present = world
    check = check_features(RawFeatures("text", rows, present, "a.npz"), data)
    record = json.loads(json.dumps(check.as_record()))
    assert record["lift"] == check.lift
    assert record["text"] == str(check)
    assert str(check).startswith("text (as-given): 100.0% of 200 items × 6, norms ")


def test_the_same_table_gives_the_same_check(world):
    data, rows, present = world
    assert check_features(RawFeatures("text", rows, present), data) == check_features(
        RawFeatures("text", rows, present), data
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_not_finite(world, bad):
    rows = world[1].copy()
    rows[[3, 8], 2] = bad
    assert faults(world, rows) == ["2 rows hold NaN or infinity"]


def test_constant_rows(world):
    assert faults(world, changed(world, 1, 0.7)) == ["1 rows hold one number only"]


def test_norms_beyond_ten_medians(world):
    for factor in (50, 1 / 50):
        rows = world[1].copy()
        rows[5] *= factor
        (what,) = faults(world, rows)
        assert what.startswith("row norms go from ")
        assert what.endswith("medians, beyond 10×")
    rows = world[1].copy()
    rows[5] *= 3
    assert faults(world, rows) == []


def test_zero_rows_beyond_one_percent(world):
    """Two of two hundred are one percent."""
    assert faults(world, changed(world, 2, 0)) == []
    assert faults(world, changed(world, 3, 0)) == ["1.5% of the rows are zero, more than 1%"]


def test_duplicates_beyond_five_percent(world):
    """Eleven equal rows are ten repeats, five percent of two hundred."""
    row = world[1][0]
    assert faults(world, changed(world, 11, row)) == []
    assert faults(world, changed(world, 12, row)) == ["5.5% of the rows repeat another row, more than 5%"]


def test_fewer_than_half_of_the_items(world):
    present = np.arange(V) < 100
    assert faults(world, present=present) == []
    assert faults(world, present=np.arange(V) < 99) == ["49.5% of 200 items have a row, fewer than 50%"]


def test_shuffled_rows_have_no_lift(world, rng):
    for _ in range(5):
        (what,) = faults(world, world[1][rng.permutation(V)])
        assert what.startswith("items of one user are no more alike (")
        assert what.endswith("rows and items do not belong together")
    (error,) = problems(check_features(RawFeatures("text", world[1][rng.permutation(V)], world[2]), world[0]))
    assert "set data.features=unproven if they are right all the same" in error.fix


def test_rows_of_noise_have_no_lift(world, rng):
    (what,) = faults(world, (0.01 * rng.standard_normal((V, 6))).astype(np.float32))
    assert "than with shuffled rows" in what


def test_rows_one_place_off(world):
    check = check_features(RawFeatures("text", *world[1:]), world[0])
    off = replace(check, moved=check.lift + 7 * check.spread)
    near = replace(check, moved=check.lift + 5 * check.spread)
    (error,) = problems(off)
    assert "more alike when the rows move by one place" in error.what
    assert "ids begin at 0 or at 1" in error.fix
    assert problems(near) == []


def test_a_control_may_lack_lift_and_have_any_length_but_not_nan(world, rng):
    rows = world[1][rng.permutation(V)]
    rows[0] *= 100
    assert faults(world, rows, control="shuffled") == []
    rows[1] = np.nan
    assert faults(world, rows, control="noise") == ["1 rows hold NaN or infinity"]


def test_what_its_user_vouches_for_may_lack_lift_but_not_have_any_length(world, rng):
    rows = world[1][rng.permutation(V)]
    assert faults(world, rows, control="unproven") == []
    rows[0] *= 100
    (what,) = faults(world, rows, control="unproven")
    assert what.startswith("row norms go from")


def test_one_user_cannot_show_lift_and_need_not(world):
    check = check_features(RawFeatures("text", *world[1:]), of_histories(range(V)))
    assert np.isnan(check.lift)
    assert "was not examined: it takes two users" in str(check)
    assert problems(check) == []


def test_nothing_finite_at_all(world):
    found = faults(world, np.full((V, 6), np.nan, np.float32))
    assert found == ["200 rows hold NaN or infinity"]
    assert "100.0% of the rows are zero, more than 1%" in faults(world, np.zeros((V, 6), np.float32))
