from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from equipoise.core.errors import PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.core.streams import stream
from equipoise.partition.divide import divide, events
from equipoise.partition.file import FileOptions, read_split, split_digest, split_path

LABELS = np.array([0, 1, 0, 1, 0, 1])
ROWS = "sample,client\n0,b\n1,a\n2,b\n3,a\n4,c\n5,c\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EQUIPOISE_DATA", raising=False)
    return tmp_path


def write(text, name="who.csv"):
    with open(name, "w") as file:
        file.write(text)


def split(size=6, **options):
    return read_split(FileOptions(**{"file": "who.csv", **options}), size, None)


def lists(indices):
    return [index.tolist() for index in indices]


def test_ids_are_sorted_to_clients():
    write(ROWS)
    found = split()
    assert found.ids == ("a", "b", "c")
    assert found.owner.tolist() == [1, 0, 1, 0, 2, 2]
    partition = divide(LABELS, 2, FileOptions(file="who.csv"), 0)
    assert lists(partition.indices) == [[1, 3], [0, 2], [4, 5]]
    assert (partition.name, partition.check.disjoint, partition.check.covering) == ("file", True, True)
    assert partition.counts.tolist() == [[0, 2], [2, 0], [1, 1]]


def test_numbers_are_sorted_as_numbers_and_rows_may_stand_in_any_order():
    write("client,sample\n10,5\n2,0\n10,1\n2,2\n2,3\n-4,4\n")
    assert split().ids == ("-4", "2", "10")
    assert split().owner.tolist() == [1, 2, 1, 1, 0, 2]


def test_parquet_and_npy_say_the_same():
    owner = [7, 3, 7, 3, 9, 9]
    pl.DataFrame({"sample": range(6), "client": owner}).write_parquet("who.parquet")
    np.save("who.npy", np.array(owner, np.int32))
    pair = [split(file=f"who.{suffix}") for suffix in ("parquet", "npy")]
    assert [each.ids for each in pair] == [("3", "7", "9")] * 2
    assert [each.owner.tolist() for each in pair] == [[1, 0, 1, 0, 2, 2]] * 2


def test_an_empty_client_is_nobody():
    write(ROWS.replace("2,b", "2,"))
    np.save("who.npy", np.array([1, 0, -1, 0, 2, 2]))
    assert split().owner.tolist() == split(file="who.npy").owner.tolist() == [1, 0, -1, 0, 2, 2]
    partition = divide(LABELS, 2, FileOptions(file="who.csv"), 0)
    assert lists(partition.indices) == [[1, 3], [0], [4, 5]]
    assert (partition.check.covering, partition.check.unowned) == (False, pytest.approx(1 / 6))


def test_samples_that_were_taken_away_are_not_trained_on():
    write(ROWS)
    found = split()
    assert lists(found.among(np.array([0, 1, 3, 4]), FileOptions())) == [[1, 2], [0], [3]]


def test_a_client_that_is_left_without_samples_is_named():
    write(ROWS)
    with pytest.raises(PartitionError, match=r"1 of 3 clients have fewer .* client 'c' has 0 left of 2") as caught:
        split().among(np.array([0, 1, 2, 3]), FileOptions())
    assert "data.validation" in caught.value.fix
    with pytest.raises(PartitionError, match=r"3 of 3 clients have fewer training samples than partition.min_size=3"):
        split().among(np.arange(6), FileOptions(min_size=3))


def test_nothing_is_drawn():
    write(ROWS)
    first, second = (divide(LABELS, 2, FileOptions(file="who.csv"), seed) for seed in (0, 1))
    assert first.fingerprint == second.fingerprint
    rng = stream(0, "x")
    SPLITTERS.find("from-file").make(LABELS, 2, FileOptions(file="who.csv"), rng)
    assert rng.random() == stream(0, "x").random()


def test_the_data_folder_comes_before_the_working_folder(here):
    (here / "data").mkdir()
    write(ROWS)
    assert split_path(FileOptions(file="who.csv"), here / "data") == here / "who.csv"
    write(ROWS, "data/who.csv")
    assert split_path(FileOptions(file="who.csv"), here / "data") == here / "data" / "who.csv"
    assert split_digest(FileOptions(file="who.csv"), None) == split().digest
    assert split_digest(SPLITTERS.find("iid").options(), None) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROWS + "0,c\n3,a\n", "2 samples are given more than once: 0, 3; sample 0 to b, c"),
        (ROWS.replace("3,a\n", ""), "1 of 6 samples are missing: 3"),
        ("sample,client\n0,a\n", "5 of 6 samples are missing: 1, 2, 3, 4, 5"),
        (ROWS + "6,a\n7,a\n-1,b\n", "3 of 9 rows name samples that do not exist: 6, 7, -1"),
        (ROWS.replace("3,a", "three,a"), "samples are whole numbers, found 'three'"),
        (ROWS.replace("3,a", ",a"), "1 of 6 rows have no sample"),
        ("sample,owner\n0,a\n", "there is no column 'client'"),
        ("sample,client\n" + "".join(f"{i},\n" for i in range(6)), "no sample has a client"),
        ("", "not a whole csv file"),
    ],
)
def test_files_that_are_no_split(here, text, message):
    write(text)
    with pytest.raises(PartitionError, match=message) as caught:
        split()
    assert caught.value.where == str(here / "who.csv")
    assert caught.value.fix
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.arange(5), "it has 5 ids, the whole training set has 6 samples"),
        (np.zeros(6), "expected a row of whole numbers, found float64"),
        (np.zeros((6, 1), int), r"found int64 of shape \(6, 1\)"),
        (np.array([0, None], dtype=object), "not a whole .npy file"),
    ],
)
def test_arrays_that_are_no_split(array, message):
    np.save("who.npy", array, allow_pickle=True)
    with pytest.raises(PartitionError, match=message):
        split(file="who.npy")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clients": 4}, "partition.clients=4, and the file has 3 clients: a, b, c"),
        ({"ids": ["a", "b"]}, "1 clients of the file are not in partition.ids: c"),
        ({"ids": ["a", "b", "c", "d", "e"]}, "2 of partition.ids own no sample: d, e"),
    ],
)
def test_clients_that_were_not_expected(options, message):
    write(ROWS)
    with pytest.raises(PartitionError, match=message):
        split(**options)
    assert split(clients=3, ids=["c", "a", "b"]).ids == ("a", "b", "c")


def test_expected_ids_may_be_numbers():
    np.save("who.npy", np.array([10, 2, 10, 2, 2, 2]))
    assert split(file="who.npy", ids=[2, 10]).ids == ("2", "10")


@pytest.mark.parametrize(
    ("file", "message"),
    [(None, "no split file was named"), ("/who.csv", "is a path of this machine"), ("no.csv", "no.csv was not found")],
)
def test_a_file_that_is_not_there(file, message):
    with pytest.raises(PartitionError, match=message):
        split(file=file)


def test_other_suffixes_are_refused():
    write(ROWS, "who.txt")
    with pytest.raises(PartitionError, match=r"who\.txt is none of"):
        split(file="who.txt")


def test_a_plain_divide_records_no_file():
    write(ROWS)
    assert events(divide(LABELS, 2, FileOptions(file="who.csv"), 0)) == []
