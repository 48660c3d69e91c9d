from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import DataError
from equipoise.features.items import ItemSource, digest, gathered, table_of

SOURCE = ItemSource("text", "somewhere", {"columns": ["title"]})


def test_items_without_a_thing_are_set_aside():
    items = gathered(SOURCE, np.array([3, 1, 2]), ["a", None, "b"], str)
    assert items.ids.tolist() == [3, 2]
    assert items.things == ["a", "b"]
    assert items.without.tolist() == [1]


def test_the_stamp_knows_things_and_how_they_were_read():
    stamps = {
        gathered(source, np.array([1, 2]), things, str).stamp
        for source in (SOURCE, ItemSource("text", "somewhere", {"columns": ["plot"]}))
        for things in (["a", "bc"], ["ab", "c"], ["a", None])
    }
    assert len(stamps) == 6
    moved = ItemSource("text", "elsewhere", SOURCE.facts)
    assert gathered(moved, np.array([1]), ["a"], str).stamp == gathered(SOURCE, np.array([1]), ["a"], str).stamp


def test_ids_that_stand_there_twice():
    with pytest.raises(DataError, match="1 of 2 ids stand there more than once: 7"):
        gathered(SOURCE, np.array([7, 8, 7]), ["a", "b", None], str)


def test_nothing_at_all():
    with pytest.raises(DataError, match="none of 2 items has a text"):
        gathered(SOURCE, np.array([7, 8]), [None, None], str)


def test_lists_do_not_run_together():
    assert digest(["ab", "c"]) != digest(["a", "bc"])
    assert digest(["\ud800"]) != digest(["\ud801"])


def test_tables_that_are_not_there_or_lack_a_column(tmp_path):
    with pytest.raises(DataError, match="there is no table"):
        table_of(tmp_path / "a.csv", ["x"], "say which")
    (tmp_path / "a.csv").write_text("title\nHeat\n")
    with pytest.raises(DataError, match="did you mean 'title'") as caught:
        table_of(tmp_path / "a.csv", ["tilte"], "say which")
    assert caught.value.fix == "say which"
    (tmp_path / "a.txt").write_text("title\nHeat\n")
    with pytest.raises(DataError, match="is none of") as caught:
        table_of(tmp_path / "a.txt", ["title"], "say which")
    assert caught.value.fix != "say which"
