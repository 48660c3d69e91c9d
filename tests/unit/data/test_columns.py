from __future__ import annotations

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest

from equipoise.core.errors import DataError
from equipoise.data.columns import ids_of, moments_of, parse_lines, read_table


def moments(values, **kind):
    order, seconds = moments_of(pl.Series("when", values, **kind), "here")
    return order.tolist(), seconds.tolist()


def test_lines_of_whole_numbers():
    users, times = parse_lines(b"1::20::5::300\n2::21::4::301\n", ":", (0, 6), "here")
    assert (users.tolist(), times.tolist()) == ([1, 2], [300, 301])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "expected whole numbers in every line"),
        (b"1::20::5\n", "expected whole numbers in every line"),
        (b"1::20::5::300\n2::21\n", "expected 2 numbers in every line, found 1 empty"),
        (b"1::20::5::300\n\n", "expected 2 numbers in every line, found 2 empty"),
        (b"1::20::5::soon\n", "expected whole numbers in every line"),
        (b"\xff\xfe::20::5::1\n", "expected whole numbers in every line"),
        (b"1.5::20::5::1\n", "expected whole numbers in every line"),
    ],
)
def test_damaged_lines_name_their_file(data, why):
    with pytest.raises(DataError, match=rf"cannot use ratings\.dat: {why}") as caught:
        parse_lines(data, ":", (0, 6), "folder/ratings.dat")
    assert caught.value.where == "folder/ratings.dat"
    assert "\n" not in caught.value.what


def test_ids_are_numbers_where_every_one_is():
    assert ids_of(pl.Series("u", ["10", "9", "-3", "0"]), "").tolist() == [10, 9, -3, 0]
    assert ids_of(pl.Series("u", [10, 9], dtype=pl.Int16), "").dtype == np.int64
    assert ids_of(pl.Series("u", ["a", "9"], dtype=pl.Categorical), "").tolist() == ["a", "9"]


@pytest.mark.parametrize("other", ["007", "1.0", " 7", "9" * 30, ""])
def test_ids_that_are_not_exactly_numbers_stay_text(other):
    assert ids_of(pl.Series("u", ["7", other]), "").tolist() == ["7", other]


def test_missing_ids_and_ids_of_another_kind_are_refused():
    with pytest.raises(DataError, match="1 of 2 rows have no user"):
        ids_of(pl.Series("user", ["a", None]), "here")
    with pytest.raises(DataError, match="column 'user' holds Float64; ids are whole numbers or text"):
        ids_of(pl.Series("user", [1.0, 2.0]), "here")
    with pytest.raises(DataError, match=r"column 'user' holds numbers with a fraction, as in '1\.0'; ids are"):
        ids_of(pl.Series("user", ["1.0", "2.0"]), "here")


def test_moments_in_every_form():
    assert moments([3, 1]) == ([3, 1], [3.0, 1.0])
    assert moments([0.5, 0.25]) == ([0.5, 0.25], [0.5, 0.25])
    assert moments(["3", "1"]) == ([3, 1], [3.0, 1.0])
    assert moments(["0.5", "1"]) == ([0.5, 1.0], [0.5, 1.0])
    assert moments([date(1970, 1, 2)]) == ([86_400_000_000], [86400.0])
    assert moments([datetime(1970, 1, 1, 0, 1, 0, 500_000)]) == ([60_500_000], [60.5])
    assert moments(["1970-01-02", "1970-01-03"])[1] == [86400.0, 172800.0]
    assert moments(["1970-01-01T00:01:00", "1970-01-01T00:00:01"])[1] == [60.0, 1.0]
    assert moments(["1970-01-01T02:00:00+02:00", "1970-01-01T02:00:30+02:00"])[1] == [0.0, 30.0]
    assert moments(["1970-01-01T00:00:00Z", "1970-01-01T00:00:30Z"])[1] == [0.0, 30.0]


@pytest.mark.parametrize(
    ("values", "n_bad"),
    [([1, None, 3], 1), ([1.0, float("nan"), float("inf")], 2), (["1", None, "3"], 1), ([True, False, True], 3)],
    ids=["null", "nan", "text", "truth"],
)
def test_rows_without_a_usable_moment_have_no_order(values, n_bad):
    with pytest.raises(DataError, match=f"{n_bad} of 3 rows have no usable when, so their order is unknown"):
        moments(values)


def test_words_are_no_moments():
    with pytest.raises(DataError, match="column 'when' holds neither numbers nor dates, as in 'soon'") as caught:
        moments(["1", "soon"])
    assert "2024-05-31T12:00:00" in caught.value.fix


def test_text_files_by_their_ending(folder):
    for name, separator in (("a.csv", ","), ("a.tsv", "\t")):
        (folder / name).write_text(separator.join("uvw") + "\n" + separator.join(["1", "x y", "2"]) + "\n")
        assert read_table(folder / name, ["w", "u"]).rows() in ([("1", "2")], [("2", "1")])
    (folder / "a.xlsx").touch()
    with pytest.raises(DataError, match=r"a\.xlsx is none of \.csv, \.tsv, \.parquet, \.pq"):
        read_table(folder / "a.xlsx", ["u"])


def test_a_missing_column_suggests_the_nearest(folder):
    (folder / "a.csv").write_text("user_id,item,time\n1,2,3\n")
    with pytest.raises(DataError, match=r"there is no column 'user' in a\.csv; did you mean 'user_id'\?") as caught:
        read_table(folder / "a.csv", ["user", "item"])
    assert "data.user" in caught.value.fix
    pl.DataFrame({"x": [1]}).write_parquet(folder / "a.parquet")
    with pytest.raises(DataError, match=r"there is no column 'user' in a\.parquet; known: x"):
        read_table(folder / "a.parquet", ["user"])


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", ",")])
def test_columns_that_are_separated_otherwise_are_said_so(folder, name, mark):
    (folder / name).write_text(mark.join(["user", "item"]) + "\n" + mark.join("12") + "\n")
    with pytest.raises(DataError, match=rf"the header of {name} is one column, 'user{mark}item'") as caught:
        read_table(folder / name, ["user", "item"])
    assert "commas" in caught.value.fix


@pytest.mark.parametrize("form", ["utf-16-le", "utf-16-be"])
def test_wide_characters_are_called_by_their_name(folder, form):
    (folder / "a.csv").write_bytes("\ufeffuser,item\n1,2\n".encode(form))
    with pytest.raises(DataError, match=r"a\.csv is written in UTF-16") as caught:
        read_table(folder / "a.csv", ["user", "item"])
    assert "UTF-8" in caught.value.fix


@pytest.mark.parametrize(("name", "content"), [("a.csv", b""), ("a.csv", b"u,i\n1,2,3\n"), ("a.parquet", b"PAR1")])
def test_damaged_tables_name_themselves(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(DataError, match=rf"cannot use a\.{name[2:]}: it is not a whole {name[2:]} file"):
        read_table(folder / name, ["u", "i"])
