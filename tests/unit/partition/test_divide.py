import numpy as np
import pytest

from equipoise.config.blocks import PartitionOptions
from equipoise.core.errors import DataError, PartitionError, UnknownName
from equipoise.core.registry import SPLITTERS, Registry
from equipoise.partition import divide as room
from equipoise.partition.check import declares_overlap
from equipoise.partition.dirichlet import DirichletOptions
from equipoise.partition.divide import count, divide, events
from equipoise.partition.fafi_overlap import FafiOverlapOptions
from tests.conftest import for_images

LABELS = np.arange(600) % 10
NAMES = [name for name in for_images(SPLITTERS) if "own-file" not in SPLITTERS.find(name).traits]
"""The splitters that draw; a split file is tested beside its reader."""

FINGERPRINTS = {
    "dirichlet": "ab33bd531643",
    "dirichlet-client": "1869583b93f5",
    "drawn": "43b4b1429efb",
    "fafi-overlap": "d89efef20668",
    "iid": "811d9114c8dd",
    "quantity": "8cdfe72afc93",
    "shards": "b310717c3808",
}
"""First 12 digits for LABELS, 7 clients, seed 3: a change moves every stored result and belongs in the changelog."""


def options(name, **settings):
    return SPLITTERS.find(name).options(**settings)


def test_the_room_has_these_splitters():
    assert NAMES == ["dirichlet", "dirichlet-client", "drawn", "fafi-overlap", "iid", "quantity", "shards"]


@pytest.mark.parametrize("name", for_images(SPLITTERS))
def test_every_splitter_is_documented_and_knows_its_name(name):
    entry = SPLITTERS.find(name)
    assert entry.summary.endswith(".")
    assert "Source:" in entry.doc
    assert entry.options().name == name
    assert all(field.description for key, field in entry.options.model_fields.items() if key != "name")


@pytest.mark.parametrize(
    ("alias", "name"), [("dir", "dirichlet"), ("lda", "dirichlet"), ("dir-client", "dirichlet-client")]
)
def test_the_names_researchers_use_are_accepted(alias, name):
    assert SPLITTERS.find(alias).name == name
    assert divide(LABELS, 10, PartitionOptions(name=alias), 0).name == name


@pytest.mark.parametrize("name", NAMES)
def test_the_fingerprint_is_the_one_it_always_was(name):
    assert divide(LABELS, 10, options(name, clients=7), 3).fingerprint[:12] == FINGERPRINTS[name]


@pytest.mark.parametrize("name", NAMES)
def test_the_global_random_state_is_left_alone(name):
    before = np.random.get_state()[1].tolist()
    divide(LABELS, 10, options(name), 0)
    assert np.random.get_state()[1].tolist() == before


def test_counts_are_samples_per_client_and_class():
    assert count([np.array([0, 1]), np.array([2])], np.array([1, 1, 0]), 3).tolist() == [[0, 2, 0], [1, 0, 0]]


def test_a_partition_carries_its_facts():
    partition = divide(LABELS, 10, DirichletOptions(clients=4, alpha=0.1), 0)
    assert partition.counts.shape == (4, 10)
    assert partition.counts.sum() == 600
    assert partition.skew["size_mean"] == 150
    assert partition.skew["overlap"] == partition.check.overlap == 0
    assert not partition.overlaps
    assert events(partition) == []


def test_overlap_is_declared_reported_and_an_event():
    partition = divide(LABELS, 10, FafiOverlapOptions(clients=4), 0)
    (event,) = events(partition)
    assert partition.overlaps
    assert partition.skew["overlap"] == partition.check.overlap > 0
    assert event.kind == "partition-overlap"
    assert f"{partition.check.overlap:.1%}" in event.message
    assert event.detail["fingerprint"] == partition.fingerprint


def test_a_plain_block_gets_the_defaults_of_its_splitter():
    plain = divide(LABELS, 10, PartitionOptions(), 0)
    assert plain.fingerprint == divide(LABELS, 10, DirichletOptions(), 0).fingerprint


def test_small_integers_are_labels_too():
    assert divide(LABELS.astype(np.uint8), 10, PartitionOptions(), 0).fingerprint == (
        divide(LABELS, 10, PartitionOptions(), 0).fingerprint
    )


def test_an_unknown_splitter_is_suggested():
    with pytest.raises(UnknownName, match="did you mean 'dirichlet'"):
        divide(LABELS, 10, PartitionOptions(name="dirichlett"), 0)


@pytest.mark.parametrize("labels", [np.zeros((2, 2), dtype=np.int64), np.zeros(4)])
def test_labels_must_be_one_row_of_whole_numbers(labels):
    with pytest.raises(DataError, match="whole numbers in one row"):
        divide(labels, 10, PartitionOptions(), 0)


@pytest.mark.parametrize("wrong", [-1, 10])
def test_a_label_outside_the_classes_is_an_error(wrong):
    with pytest.raises(DataError, match="there are 10 classes"):
        divide(np.append(LABELS, wrong), 10, PartitionOptions(), 0)


@pytest.mark.parametrize("name", [name for name in NAMES if not declares_overlap(options(name))])
def test_too_many_clients_for_the_samples_is_an_error(name):
    with pytest.raises(PartitionError, match="need 602 samples, there are 600"):
        divide(LABELS, 10, options(name, clients=301, min_size=2), 0)
    with pytest.raises(PartitionError, match="there are 0"):
        divide(LABELS[:0], 10, options(name, clients=1, min_size=1), 0)


def test_a_splitter_that_overlaps_without_saying_so_is_refused(monkeypatch):
    careless = Registry("partition", "equipoise.partition")
    careless.register("careless", options=PartitionOptions)(lambda labels, *_: [np.arange(len(labels))] * 2)
    monkeypatch.setattr(room, "SPLITTERS", careless)
    with pytest.raises(PartitionError, match=r"100.0% of the samples belong to several clients"):
        divide(LABELS, 10, PartitionOptions(name="careless"), 0)
