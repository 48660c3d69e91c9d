from __future__ import annotations

import polars as pl
import pytest

from equipoise.core.errors import ConfigError, DataError
from equipoise.features.texts import Wanted, read_texts

TABLE = 'movie,title,genres\n7,Heat, Crime \n3,"Up, and away",\n5,  ,\n'


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "movies.csv"
    path.write_text(TABLE)
    return path


def test_columns_are_joined_by_a_space_and_empty_cells_leave_no_gap(table):
    items = read_texts(table, Wanted("movie", ("title", "genres")))
    assert dict(zip(items.ids.tolist(), items.things, strict=True)) == {7: "Heat Crime", 3: "Up, and away"}
    assert items.without.tolist() == [5]
    assert items.source.facts == {"columns": ["title", "genres"], "format": None}


@pytest.mark.parametrize("columns", [(), ("title", "genres"), ("genres", "title")])
def test_columns_in_a_format(table, columns):
    items = read_texts(table, Wanted("movie", columns, "{genres}: {title} {{{title}}}"))
    assert items.things == ["Crime: Heat {Heat}", ": Up, and away {Up, and away}"]
    assert items.source.facts["columns"] == ["genres", "title"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{title", "is not a format"),
        ("no column", "otherwise than as"),
        ("{}", "otherwise than as"),
        ("{title!r}", "otherwise than as"),
        ("{title:>9}", "otherwise than as"),
        ("{tilte} {genres}", "did you mean 'title'"),
        ("{title}", "leaves out genres"),
    ],
)
def test_formats_that_cannot_be(table, template, message):
    with pytest.raises(ConfigError, match=message):
        read_texts(table, Wanted("movie", ("title", "genres"), template))


def test_no_column(table):
    with pytest.raises(ConfigError, match="no column of text is named"):
        read_texts(table, Wanted("movie", ()))


def test_unknown_column(table):
    with pytest.raises(DataError, match=r"no column 'genre' in movies.csv; did you mean 'genres'") as caught:
        read_texts(table, Wanted("movie", ("genre",)))
    assert "--column" in caught.value.fix


def test_numbers_and_lists_are_text_in_parquet(tmp_path):
    path = tmp_path / "movies.parquet"
    table = pl.DataFrame({"id": ["a", "b"], "year": [1995, None], "genres": [["Crime", None, "Drama"], []]})
    table.with_columns(seen=pl.lit(True)).write_parquet(path)
    items = read_texts(path, Wanted("id", ("year", "genres")))
    assert items.things == ["1995 Crime Drama"]
    assert items.without.tolist() == ["b"]
    with pytest.raises(DataError, match="column 'seen' holds Boolean"):
        read_texts(path, Wanted("id", ("seen",)))


def test_tabs_and_an_item_without_id(tmp_path):
    path = tmp_path / "movies.tsv"
    path.write_text("id\ttitle\n1\tHeat\n\tUp\n")
    with pytest.raises(DataError, match="1 of 2 rows have no id"):
        read_texts(path, Wanted("id", ("title",)))
