from __future__ import annotations

import numpy as np
import pytest

from equipoise.config.loader import load
from equipoise.core.errors import PartitionError
from equipoise.data.scenario import rotated
from equipoise.data.splits import load_splits
from equipoise.partition.allot import allot, origin_of, partition_of
from equipoise.partition.divide import events
from equipoise.partition.split_rows import owners_of, write_rows


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EQUIPOISE_DATA", raising=False)
    return tmp_path


def allotted(*overrides):
    config = load("fedavg", ["data.limit=300", *overrides]).config
    splits = load_splits(config.data, config.seed)
    return splits, allot(config, splits, None)


def test_without_a_word_everything_is_as_it_was():
    splits, found = allotted()
    assert found.splits.train is splits.train
    assert found.splits.content == splits.content
    assert found.indices is found.partition.indices
    assert (len(found.local), found.notes) == (0, ())


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy"])
@pytest.mark.parametrize("data", [(), ("data.limit=300", "data.public=0.1")])
def test_a_written_split_gives_the_same_fingerprint(here, suffix, data):
    config = load("fedavg", data).config
    splits = load_splits(config.data, config.seed)
    first = partition_of(config.partition, splits, config.seed, None)
    write_rows(here / f"split.{suffix}", owners_of(first, origin_of(splits)), first.ids)
    again = load("fedavg", [*data, "partition=file", f"partition.file=split.{suffix}"]).config
    second = partition_of(again.partition, splits, again.seed, None)
    assert second.fingerprint == first.fingerprint
    assert second.counts.tolist() == first.counts.tolist()
    assert second.ids == ("0", "1", "2", "3", "4")


def test_a_written_split_serves_another_seed(here):
    config = load("fedavg", ["seed=0"]).config
    splits = load_splits(config.data, 0)
    first = partition_of(config.partition, splits, 0, None)
    owner = owners_of(first, origin_of(splits))
    write_rows(here / "split.csv", owner, ())
    other = load_splits(config.data, 1)
    found = partition_of(
        load("fedavg", ["partition=file", "partition.file=split.csv"]).config.partition, other, 1, None
    )
    for client, index in enumerate(found.indices):
        assert (owner[other.origin.numbers[index]] == client).all()
    held_before = np.setdiff1d(other.origin.numbers, splits.origin.numbers)
    assert found.check.unowned == pytest.approx(len(held_before) / len(other.train))
    [event] = events(found)
    assert (event.kind, event.detail["ids"]) == ("split-file", ["0", "1", "2", "3", "4"])
    assert "belong to nobody" in event.message


def test_another_file_is_other_content(here):
    np.save("a.npy", np.arange(1438) % 3)
    splits, found = allotted("partition=file", "partition.file=a.npy")
    assert found.splits.content == splits.content + found.partition.source
    assert len(found.partition.source) == 64
    assert len(found.indices) == 3


def test_label_noise_is_of_each_client_and_recorded():
    splits, found = allotted("scenario.label_noise=0.5", "scenario.clients=0.4")
    [event] = found.notes
    changed = found.splits.train.labels != splits.train.labels
    assert event.kind == "scenario"
    assert len(event.detail["changed"]) == 2
    for client, index in enumerate(found.indices):
        line = event.detail["changed"].get(str(client))
        assert changed[index].sum() == (round(len(index) / 2) if line else 0)
        assert line is None or line == {"flipped": changed[index].sum(), "of": len(index)}
    assert f"scenario on 2 of 5 clients: {changed.sum()} of" in event.message
    assert found.splits.train.inputs is splits.train.inputs
    assert found.splits.validation is splits.validation
    assert found.splits.test is splits.test
    assert found.splits.content == splits.content


def test_a_shift_changes_local_test_images_too_and_label_noise_does_not():
    given = ("scenario.shift=rotation", "scenario.strength=1", "scenario.label_noise=1", "data.local_test=0.3")
    splits, found = allotted(*given)
    train, before = found.splits.train, splits.train
    for client, (kept, held) in enumerate(zip(found.indices, found.local, strict=True)):
        angle = found.notes[0].detail["changed"][str(client)]["angle"]
        for part in (kept, held):
            assert np.array_equal(train.inputs[part], rotated(before.inputs[part], angle))
        assert (train.labels[kept] != before.labels[kept]).all()
        assert (train.labels[held] == before.labels[held]).all()
        assert not set(kept) & set(held)
    assert found.splits.test is splits.test


def test_the_partition_is_that_of_all_images_a_client_owns():
    _, plain = allotted()
    _, held = allotted("data.local_test=0.3")
    assert held.partition.fingerprint == plain.partition.fingerprint
    assert sum(map(len, held.indices)) + sum(map(len, held.local)) == sum(map(len, plain.indices))


def test_clients_that_share_images_have_no_scenario_of_their_own():
    with pytest.raises(PartitionError, match="a scenario changes each client's own") as caught:
        allotted("partition=drawn", "scenario.label_noise=0.1")
    assert caught.value.where == "scenario"
