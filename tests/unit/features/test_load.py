from __future__ import annotations

import numpy as np
import pytest

from equipoise.config.blocks import InteractionOptions
from equipoise.core.errors import DataError
from equipoise.data.planted import PlantedOptions, planted
from equipoise.features.load import controlled, item_features, matched, planted_features, unit
from equipoise.features.tables import FeatureTable
from tests.unit.data.histories import of_histories

ROWS = np.array([[3, 4], [1, 0], [0, 2]], np.float32)
POSTERS, TEXTS = "ml1m_poster_effnetlite2.npz/feat512", "ml1m_text_minilm.npz/title_genre_plot"


@pytest.fixture
def world(rng, folder):
    """100 items with ids 100 … 199 in two kinds, users of one kind each; text.npz shows the kind, two rows missing."""
    kind = rng.permutation(np.arange(100) % 2)
    own = [100 + rng.choice(np.flatnonzero(kind == u % 2), 25, replace=False) for u in range(50)]
    rows = np.eye(2)[kind] @ rng.standard_normal((2, 5)) + 0.3 * rng.standard_normal((100, 5))
    shuffled = rng.permutation(np.arange(2, 100))
    np.savez(folder / "text.npz", item_id=100 + shuffled, emb=rows[shuffled])
    return of_histories(*own), rows, folder


def test_rows_are_matched_by_id():
    table = FeatureTable(ROWS, np.array([30, 10, 20]), "here")
    rows, present = matched(table, np.array([10, 15, 30, 99]))
    assert rows.tolist() == [[1, 0], [0, 0], [3, 4], [0, 0]]
    assert present.tolist() == [True, False, True, False]


def test_numbers_and_text_are_compared_as_text():
    rows, present = matched(FeatureTable(ROWS, np.array(["30", "10", "x"]), "here"), np.array([10, 30]))
    assert rows.tolist() == [[1, 0], [3, 4]]
    assert present.all()
    rows, present = matched(FeatureTable(ROWS, np.array([30, 10, 20], np.uint16), "here"), np.array(["20", "010"]))
    assert present.tolist() == [True, False]


def test_a_table_without_ids_is_numbered():
    rows, present = matched(FeatureTable(ROWS, None, "here"), np.array([0, 2]))
    assert rows.tolist() == [[3, 4], [0, 2]]
    assert present.all()


@pytest.mark.parametrize("ids", [[0, 3], [-1, 2], ["a", "b"]], ids=["beyond", "below", "text"])
def test_an_id_outside_a_numbered_table_is_never_clamped(ids):
    with pytest.raises(DataError, match="items lie outside the table, whose rows are 0 to 2") as caught:
        matched(FeatureTable(ROWS, None, "here"), np.array(ids))
    assert "item_id" in caught.value.fix


def test_a_table_of_another_set():
    with pytest.raises(DataError, match="no item has a row: the table names 30, 10, 20 and the items are 1, 2"):
        matched(FeatureTable(ROWS, np.array([30, 10, 20]), "here"), np.array([1, 2]))


def test_a_table_without_rows():
    with pytest.raises(DataError, match="the table has no rows"):
        matched(FeatureTable(ROWS[:0], np.array([], dtype=np.int64), "here"), np.array([1, 2]))


def test_unit_rows():
    assert unit(np.array([[3, 4], [0, 0], [0, -2]], np.float32)).tolist() == [
        pytest.approx([0.6, 0.8]), [0, 0], [0, -1],
    ]  # fmt: skip


def test_features_of_a_file(world):
    data, rows, folder = world
    features = item_features(InteractionOptions(text="text.npz"), data, folder)
    assert list(features) == ["text"]
    text = features["text"]
    assert text.present.tolist() == [False, False, *[True] * 98]
    assert np.allclose(text.rows[2:], rows[2:] / np.linalg.norm(rows[2:], axis=1, keepdims=True), atol=1e-6)
    assert not text.rows[:2].any()
    assert text.check.present == 0.98
    assert text.check.control == "as-given"
    assert text.check.where == f"{folder / 'text.npz'}, emb"
    assert text.check.others == 0
    assert "belong to none" not in str(text.check)


def test_rows_of_no_item_are_counted(world):
    data, rows, folder = world
    more = np.concatenate([rows, rows[:3]])
    np.savez(folder / "more.npz", emb=more, item_id=[*data.item_ids.tolist(), 900, 901, 902])
    check = item_features(InteractionOptions(text="more.npz"), data, folder)["text"].check
    assert check.others == 3
    assert "100.0% of 100 items × 5 (3 rows belong to none of them)" in str(check)


def test_no_table_no_features(world):
    assert item_features(InteractionOptions(), world[0], world[2]) == {}


def test_a_zero_row_is_masked(world):
    data, rows, folder = world
    rows[7] = 0
    np.savez(folder / "text.npz", item_id=np.arange(100, 200), emb=rows)
    text = item_features(InteractionOptions(text="text.npz"), data, folder)["text"]
    assert np.flatnonzero(~text.present).tolist() == [7]
    assert text.check.zeros == 0.01


def test_a_misaligned_table_is_refused_with_every_problem(world):
    data, rows, folder = world
    rows = np.roll(rows, 31, axis=0)
    rows[3] = np.nan
    np.savez(folder / "text.npz", item_id=np.arange(100, 200), emb=rows)
    with pytest.raises(DataError) as caught:
        item_features(InteractionOptions(text="text.npz"), data, folder)
    assert "1 rows hold NaN" in caught.value.what
    assert "rows and items do not belong together" in caught.value.what
    assert "check the ids beside the rows" in caught.value.fix
    assert caught.value.where == f"{folder / 'text.npz'}, emb"


def test_the_shuffled_control(world):
    data, _, folder = world
    asked = InteractionOptions(text="text.npz", features="shuffled")
    given, first, again, other = (
        item_features(options, data, folder, seed)["text"]
        for options, seed in ((InteractionOptions(text="text.npz"), 0), (asked, 0), (asked, 0), (asked, 1))
    )
    assert np.array_equal(first.present, given.present)
    assert np.array_equal(first.rows, again.rows)
    assert not np.array_equal(first.rows, other.rows)
    assert not np.array_equal(first.rows, given.rows)
    assert sorted(map(tuple, first.rows.tolist())) == sorted(map(tuple, given.rows.tolist()))
    assert first.check.control == "shuffled"
    assert first.check.deviations < 6 < given.check.deviations


def test_the_noise_control(world):
    data, _, folder = world
    noise = item_features(InteractionOptions(text="text.npz", features="noise"), data, folder)["text"]
    assert not noise.rows[:2].any()
    drawn = noise.rows[2:]
    assert drawn.std() == pytest.approx(0.01, rel=0.2)
    assert abs(drawn.mean()) < 4 * 0.01 / np.sqrt(drawn.size)
    assert noise.check.control == "noise"
    assert noise.check.deviations < 6


def test_controls_leave_the_table_alone(rng):
    present = np.array([True, True, False])
    before = ROWS.copy()
    assert controlled(ROWS, present, "as-given", rng).tolist() == before.tolist()
    controlled(ROWS, present, "noise", rng)
    assert ROWS.tolist() == before.tolist()


def test_generated_features_follow_the_same_way():
    options = PlantedOptions(features="shuffled")
    given, shuffled = planted_features(PlantedOptions()), item_features(options, planted(options, None), None)
    assert list(given) == list(shuffled) == ["visual", "text"]
    for name in given:
        assert given[name].check.deviations > 20
        assert abs(shuffled[name].check.deviations) < 6
        assert np.allclose(np.linalg.norm(given[name].rows, axis=1), 1, atol=1e-6)


def test_generated_features_without_signal_are_reported_not_refused():
    checks = [modality.check for modality in planted_features(PlantedOptions(signal=0.0)).values()]
    assert all(abs(check.deviations) < 5 for check in checks)


def test_real_features_of_the_top_thousand(real_data):
    from equipoise.data.movielens import movielens_1m

    options = InteractionOptions(subset="top", users=1000, visual=POSTERS, text=TEXTS)
    data = movielens_1m(options, real_data)
    features = item_features(options, data, real_data)
    visual, text = features["visual"], features["text"]
    assert (visual.check.present, text.check.present) == (pytest.approx(0.9534, abs=1e-4), 1)
    assert visual.check.lift == pytest.approx(0.0065, abs=2e-4)
    assert text.check.lift == pytest.approx(0.0053, abs=2e-4)
    assert min(visual.check.deviations, text.check.deviations) > 50


@pytest.mark.parametrize(("setting", "width"), [(POSTERS, 512), (TEXTS, 384)])
@pytest.mark.parametrize("wrong", ["shuffled", "one place off"])
def test_real_features_of_the_wrong_items_are_refused(real_data, folder, rng, setting, width, wrong):
    from equipoise.data.movielens import movielens_1m
    from equipoise.features.tables import read_features

    data = movielens_1m(InteractionOptions(subset="top", users=1000), real_data)
    table = read_features(setting, real_data)
    ids = np.roll(table.ids, 1) if wrong == "one place off" else rng.permutation(table.ids)
    np.savez(folder / "wrong.npz", movie_id=ids, emb=table.rows)
    assert table.rows.shape[1] == width
    with pytest.raises(DataError, match=r"do not belong together|every row is one place off"):
        item_features(InteractionOptions(text="wrong.npz"), data, folder)
