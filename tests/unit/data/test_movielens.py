from __future__ import annotations

import zipfile

import numpy as np
import polars as pl
import pytest

from equipoise.config.blocks import InteractionOptions
from equipoise.config.kinds import kind_of
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.data.movielens import movielens_1m, movielens_100k

from .histories import named
from .writers import write_files

DEFAULT = InteractionOptions()
RATINGS = (
    b"1::1193::5::978300760\n1::661::3::978302109\n1::914::3::978300760\n2::661::1::10\n2::9::2::11\n2::8::2::12\n"
)
U_DATA = b"196\t242\t3\t30\n196\t10\t1\t20\n196\t7\t5\t40\n"


def packed(rank=True, **columns):
    content = {
        "user_id": [1, 1, 1, 1, 2, 2, 2],
        "movie_id": [10, 20, 30, 40, 10, 20, 50],
        "rating": [5] * 7,
        "timestamp": [None, 4, 5, 9, 1, 2, 3],
        "time_rank": [2, 0, 1, -1, 0, 1, 2],
    }
    table = pl.DataFrame(content | columns, schema_overrides={"time_rank": pl.Int16, "timestamp": pl.Int32})
    return table if rank else table.drop("time_rank")


def test_names():
    assert {DATASETS.find(name).name for name in ("movielens-1m", "ml-1m", "ml1m")} == {"movielens-1m"}
    assert {DATASETS.find(name).name for name in ("movielens-100k", "ml-100k", "ml100k")} == {"movielens-100k"}
    assert kind_of("ml-1m").name == "interactions"


@pytest.mark.parametrize("is_zip", [False, True])
@pytest.mark.parametrize("inside", ["", "movielens-1m"])
def test_one_million_as_published(folder, is_zip, inside):
    place = folder / inside
    place.mkdir(exist_ok=True)
    if is_zip:
        with zipfile.ZipFile(place / "ml-1m.zip", "w") as archive:
            archive.writestr("ml-1m/ratings.dat", RATINGS)
    else:
        write_files(place / "ml-1m", {"ratings.dat": RATINGS})
    data = movielens_1m(DEFAULT, folder)
    assert named(data) == {1: [1193, 914, 661], 2: [661, 9, 8]}
    assert data.times.tolist() == [978300760, 978300760, 978302109, 10, 11, 12]
    assert data.notes == ("The reader sorted the rows of 1 user by time.",)
    assert data.name == "movielens-1m"


def test_a_hundred_thousand_as_published(folder):
    write_files(folder, {"ml-100k/u.data": U_DATA})
    data = movielens_100k(DEFAULT, folder)
    assert named(data) == {196: [10, 242, 7]}
    assert data.times.tolist() == [20, 30, 40]


def test_packed_by_rank(folder):
    packed().write_parquet(folder / "ml1m_ratings.parquet")
    data = movielens_1m(DEFAULT, folder)
    assert named(data) == {1: [20, 30, 10], 2: [10, 20, 50]}
    assert data.times is None
    assert data.notes[0] == "The reader left out 1 row whose place in the history is unknown."


def test_packed_keeps_moments_of_users_who_have_them_all(folder):
    packed().write_parquet(folder / "ml1m_ratings.parquet")
    data = movielens_1m(InteractionOptions(untimed="drop"), folder)
    assert named(data) == {2: [10, 20, 50]}
    assert data.times.tolist() == [1, 2, 3]


def test_packed_without_ranks_goes_by_moments(folder):
    packed(rank=False, timestamp=[3, 1, 2, 4, 5, 6, 7]).write_parquet(folder / "ml100k_ratings.parquet")
    data = movielens_100k(DEFAULT, folder)
    assert named(data) == {1: [20, 30, 10, 40], 2: [10, 20, 50]}
    assert data.times.tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_packed_without_any_order_is_refused(folder):
    packed(rank=False).write_parquet(folder / "ml100k_ratings.parquet")
    with pytest.raises(DataError, match="1 of 7 rows have neither a moment nor a rank"):
        movielens_100k(DEFAULT, folder)


def test_packed_without_a_user_is_refused(folder):
    packed(user_id=[1, 1, None, 1, 2, 2, 2]).write_parquet(folder / "ml1m_ratings.parquet")
    with pytest.raises(DataError, match="1 of 6 rows have no user_id"):
        movielens_1m(DEFAULT, folder)


def test_the_original_comes_before_the_packed_table(folder):
    write_files(folder, {"ml-1m/ratings.dat": RATINGS})
    packed().write_parquet(folder / "ml1m_ratings.parquet")
    assert movielens_1m(DEFAULT, folder).times is not None


def test_not_found_names_every_place(folder):
    with pytest.raises(DataError, match="the files of 'movielens-1m' were not found") as caught:
        movielens_1m(DEFAULT, folder)
    places = "ml-1m/ratings.dat, ml-1m.zip, ml1m_ratings.parquet"
    assert caught.value.where == f"looked in {folder} and {folder / 'movielens-1m'} for {places}"
    assert "equipoise data fetch movielens-1m" in caught.value.fix


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ml-1m/ratings.dat", RATINGS[:-20]),
        ("ml-1m.zip", b"PK\3\4 cut short"),
        ("ml1m_ratings.parquet", b"PAR1 cut short"),
    ],
)
def test_damaged_files_name_themselves(folder, name, content):
    write_files(folder, {name: content})
    with pytest.raises(DataError, match=f"cannot use {name.rsplit('/', maxsplit=1)[-1]}"):
        movielens_1m(DEFAULT, folder)


def test_a_zip_of_something_else(folder):
    with zipfile.ZipFile(folder / "ml-1m.zip", "w") as archive:
        archive.writestr("ml-10m/ratings.dat", RATINGS)
    with pytest.raises(DataError, match=r"not a whole zip file with ml-1m/ratings\.dat"):
        movielens_1m(DEFAULT, folder)


def test_a_table_of_other_columns(folder):
    pl.DataFrame({"user": [1]}).write_parquet(folder / "ml1m_ratings.parquet")
    with pytest.raises(DataError, match="user_id, movie_id and timestamp"):
        movielens_1m(DEFAULT, folder)


def test_real_one_million(real_data):
    data = movielens_1m(DEFAULT, real_data)
    assert (data.n_users, data.n_items, len(data.items)) == (6040, 3706 - 290, 1_000_209 - 598)
    assert data.notes[0] == "The reader left out 598 rows whose place in the history is unknown."
    assert data.times is None


def test_real_top_thousand(real_data):
    data = movielens_1m(InteractionOptions(subset="top", users=1000), real_data)
    assert (data.n_users, data.n_items, len(data.items)) == (1000, 3415, 514_961)
    assert (data.lengths.min(), data.lengths.max()) == (293, 2277)
    assert np.bincount(data.items).min() >= 1


def test_real_order_is_that_of_the_ranks(real_data):
    data = movielens_1m(DEFAULT, real_data)
    table = pl.read_parquet(real_data / "ml1m_ratings.parquet").filter(
        pl.col("user_id") == 6040, pl.col("time_rank") >= 0
    )
    assert named(data)[6040] == table.sort("time_rank")["movie_id"].to_list()


def test_real_hundred_thousand(real_data):
    data = movielens_100k(DEFAULT, real_data)
    assert (data.n_users, data.n_items, len(data.items)) == (943, 1682, 100_000)
    assert all((np.diff(data.times[a:b]) >= 0).all() for a, b in zip(data.bounds, data.bounds[1:], strict=False))
