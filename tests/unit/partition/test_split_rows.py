from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.data.splits import SampleNumbers
from equipoise.partition.divide import divide
from equipoise.partition.split_rows import owners_of, read_rows, write_rows

LABELS = np.arange(40) % 4


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "npy"])
def test_rows_come_back(tmp_path, suffix):
    owner = np.array([1, 0, -1, 2, 1])
    path = tmp_path / f"split.{suffix}"
    write_rows(path, owner, ())
    rows = read_rows(path, 5)
    assert rows.samples.tolist() == [0, 1, 2, 3, 4]
    assert rows.is_owned.tolist() == [True, True, False, True, True]
    assert rows.clients[rows.is_owned].tolist() == [1, 0, 2, 1]


def test_the_clients_keep_their_ids(tmp_path):
    write_rows(tmp_path / "split.csv", np.array([1, -1, 0]), ("ann", "bob"))
    assert (tmp_path / "split.csv").read_text() == "sample,client\n0,bob\n1,\n2,ann\n"


def test_owners_are_those_of_the_whole_set():
    partition = divide(LABELS, 4, SPLITTERS.find("iid").options(clients=3), 0)
    numbers = np.arange(40) * 2
    owner = owners_of(partition, SampleNumbers(numbers, 81))
    assert (owner[1::2] == -1).all()
    for client, index in enumerate(partition.indices):
        assert (owner[numbers[index]] == client).all()
    assert (owner >= 0).sum() == 40


@pytest.mark.parametrize("name", ["drawn", "fafi-overlap"])
def test_shared_samples_cannot_be_written(name):
    partition = divide(LABELS, 4, SPLITTERS.find(name).options(clients=3), 0)
    with pytest.raises(PartitionError, match="share samples, and a split file gives each to one client"):
        owners_of(partition, SampleNumbers(np.arange(40), 40))
