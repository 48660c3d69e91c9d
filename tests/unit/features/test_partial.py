from __future__ import annotations

import json

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.features.partial import DAMAGED, KEPT, Group, add, begin, groups, partial_of, remove, save_arrays

FACTS = {"encoder": "e", "weights": "w", "ids": "i", "content": "c"}


def group(*status: int) -> Group:
    kept = sum(one == KEPT for one in status)
    return Group(np.array(status, np.uint8), np.full((kept, 2), len(status), np.float32))


@pytest.fixture
def folder(tmp_path):
    place = partial_of(tmp_path / "text.npz")
    begin(place, FACTS)
    return place


def test_groups_come_back_in_order(folder):
    assert folder.name == "text.npz.partial"
    add(folder, 0, group(KEPT, DAMAGED))
    add(folder, 2, group(KEPT))
    begin(folder, FACTS)
    first, second = groups(folder)
    assert first.status.tolist() == [KEPT, DAMAGED]
    assert first.rows.tolist() == [[2, 2]]
    assert second.rows.tolist() == [[1, 1]]
    remove(folder)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("encoder", "another encoder: e, and now it is other"),
        ("weights", "an encoder of that name with other weights"),
        ("ids", "another list of ids"),
        ("content", "other texts or pictures, or other columns"),
    ],
)
def test_a_beginning_of_something_else_is_refused(folder, key, words):
    with pytest.raises(DataError, match=f"text.npz.partial was begun with {words}") as caught:
        begin(folder, {**FACTS, key: "other"})
    assert "or delete text.npz.partial to begin anew" in caught.value.fix


def test_what_is_in_the_way_is_left_alone(tmp_path):
    file, place, odd = tmp_path / "a.partial", tmp_path / "b.partial", tmp_path / "c.partial"
    file.write_text("mine")
    place.mkdir()
    odd.mkdir()
    (odd / "facts.json").write_text(json.dumps(["no facts"]))
    for path in (file, place):
        with pytest.raises(DataError, match="is in the way"):
            begin(path, FACTS)
    with pytest.raises(DataError, match="was begun with another encoder"):
        begin(odd, FACTS)
    assert file.read_text() == "mine"


def test_damage_and_gaps(folder):
    add(folder, 3, group(KEPT))
    with pytest.raises(DataError, match=r"000000003.npz does not follow what is before it"):
        groups(folder)
    add(folder, 0, group(KEPT, KEPT, KEPT))
    assert len(groups(folder)) == 2
    (folder / "000000003.npz").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"000000003.npz is damaged") as caught:
        groups(folder)
    assert caught.value.fix == "delete text.npz.partial"


def test_rows_that_do_not_fit_their_items(folder):
    add(folder, 0, Group(np.array([KEPT, KEPT], np.uint8), np.ones((1, 2), np.float32)))
    with pytest.raises(DataError, match="does not follow"):
        groups(folder)


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(DataError, match=r"cannot write a.npz"):
        save_arrays(tmp_path / "nowhere" / "a.npz", {"a": np.ones(1)})
    with pytest.raises(DataError, match=r"cannot write a.npz.partial"):
        begin(tmp_path / "nowhere" / "a.npz.partial", FACTS)


def test_a_write_that_breaks_off_leaves_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    (tmp_path / "a.npz").write_bytes(b"before")
    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(DataError, match="No space left"):
        save_arrays(tmp_path / "a.npz", {"a": np.ones(1)})
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
    assert (tmp_path / "a.npz").read_bytes() == b"before"
