from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from equipoise.config.kinds import kind_of
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.data.table import TableOptions, table

from .histories import named

CSV = "who,what,when\nann,tea,3\nann,jam,1\nbob,tea,1\nann,oat,2\nbob,jam,2\nbob,tea,3\n"
COLUMNS = {"user": "who", "item": "what", "time": "when"}


def options(file="clicks.csv", **more):
    return TableOptions(file=file, **COLUMNS, **more)


def test_csv_with_text_ids(folder):
    (folder / "clicks.csv").write_text(CSV)
    data = table(options(), folder)
    assert named(data) == {"ann": ["jam", "oat", "tea"], "bob": ["tea", "jam", "tea"]}
    assert data.times.tolist() == [1, 2, 3, 1, 2, 3]
    assert data.notes == ("The reader sorted the rows of 1 user by time.",)
    assert DATASETS.find("table").traits == {"own-file"}
    assert kind_of("table").name == "interactions"


def test_parquet_with_number_ids_and_dates(folder):
    when = [datetime(1970, 1, 1, 0, 0, second, tzinfo=UTC) for second in (9, 8, 7)]
    pl.DataFrame({"user": [5, 5, 5], "item": [70, 80, 90], "time": when}).write_parquet(folder / "a.parquet")
    data = table(TableOptions(file="a.parquet"), folder)
    assert named(data) == {5: [90, 80, 70]}
    assert data.times.tolist() == [7, 8, 9]


def test_a_clock_of_their_own_is_an_order_without_moments(folder):
    (folder / "clicks.csv").write_text(CSV)
    data = table(options(clock="own"), folder)
    assert named(data)["ann"] == ["jam", "oat", "tea"]
    assert data.times is None


def test_the_path_may_be_the_table_itself(folder):
    (folder / "clicks.csv").write_text(CSV)
    assert table(options(file=None), folder / "clicks.csv").n_users == 2


def test_a_subset_and_a_folder_below(folder):
    (folder / "shop").mkdir()
    (folder / "shop" / "clicks.csv").write_text(CSV + "cid,tea,1\ncid,jam,2\ncid,nut,3\ncid,oat,4\n")
    data = table(options("shop/clicks.csv", subset="top", users=1), folder)
    assert named(data) == {"cid": ["tea", "jam", "nut", "oat"]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (",tea,9", "1 of 7 rows have no who"),
        ("ann,,9", "1 of 7 rows have no what"),
        ("ann,tea,", "1 of 7 rows have no usable when, so their order is unknown"),
        ("ann,tea,3", "1 of 7 rows repeat another's user, item and time, as user ann, item tea"),
        ("cid,tea,3", r"1 of 3 users have fewer than 3 interactions: cid \(1\)"),
    ],
    ids=["user", "item", "time", "duplicate", "short"],
)
def test_faults_of_a_table(folder, line, message):
    (folder / "clicks.csv").write_text(CSV + line + "\n")
    with pytest.raises(DataError, match=message) as caught:
        table(options(), folder)
    assert caught.value.where == str(folder / "clicks.csv")
    assert caught.value.fix
    assert caught.value.exit_code == 2


def test_an_empty_table(folder):
    (folder / "clicks.csv").write_text("who,what,when\n")
    with pytest.raises(DataError, match="there is no interaction"):
        table(options(), folder)


def test_where_the_table_is(folder):
    with pytest.raises(DataError, match="no table was named"):
        table(options(file=None), folder)
    with pytest.raises(DataError, match=r"the table clicks\.csv was not found") as caught:
        table(options(), folder)
    assert caught.value.where == f"looked for {folder / 'clicks.csv'} and {Path('clicks.csv').absolute()}"
    with pytest.raises(DataError, match=r"clicks\.csv was not found") as caught:
        table(options(), None)
    assert "EQUIPOISE_DATA is not set" in caught.value.where
    with pytest.raises(DataError, match="is a path of this machine"):
        table(options(str(folder / "clicks.csv")), folder)
