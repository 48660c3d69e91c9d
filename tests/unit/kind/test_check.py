from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from equipoise.cli.data_report import print_overview, print_samples
from equipoise.config.blocks import ImageOptions, InteractionOptions
from equipoise.core.errors import DataError, UnknownName
from equipoise.core.registry import DATASETS
from equipoise.core.values import Dataset, Images
from equipoise.data.image_folder import FolderOptions
from equipoise.data.npz import NpzOptions
from equipoise.kind import check
from equipoise.kind.check import examine, overview
from tests.unit.data.pictures import write_folder
from tests.unit.data.writers import random_images, tiny_tree, write_fashion, write_files

EMBEDDED = {"breast-cancer", "digits", "planted", "synthetic", "wine"}
"""Sets that need no file."""


def test_embedded_digits():
    report = examine("digits", None)
    assert report["splits"]["train"]["count"] == 1438
    assert sum(report["splits"]["train"]["labels"]) == 1438
    assert report["shape"] == [1, 8, 8]
    assert report["range"] == [0, 255]
    assert np.allclose(report["mean"], report["normalises_with"]["mean"][:1], atol=1e-4)
    assert np.allclose(report["std"], report["normalises_with"]["std"][:1], atol=1e-4)
    assert report["files"] == []
    assert report["is_complete"]
    assert json.loads(json.dumps(report)) == report


def test_synthetic_is_as_large_as_its_default_says():
    assert examine("synthetic", None)["is_complete"]


def test_files_without_a_published_sum_are_described(folder, rng):
    train, test = (random_images(rng, count, 10, (1, 28, 28)) for count in (1200, 4))
    write_fashion(folder, train, test, zipped=False)
    report = examine("fmnist", folder)
    assert report["name"] == "fashion-mnist"
    assert report["splits"]["train"]["labels"] == np.bincount(train.labels, minlength=10).tolist()
    assert report["splits"]["test"] == {"count": 4, "published": 10000, "labels": np.bincount(test.labels).tolist()}
    assert not report["is_complete"]
    shares = train.pixels / 255
    assert np.allclose(report["mean"], shares.mean())
    assert np.allclose(report["std"], shares.std())
    path = folder / "t10k-labels-idx1-ubyte"
    assert report["files"][3] == {
        "path": str(path),
        "bytes": 8 + 4,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "checksum": "unknown",
    }


def test_a_wrong_checksum_is_an_error_that_names_file_size_and_both_sums(folder, rng):
    parts = [random_images(rng, 2, 10, (1, 28, 28)) for _ in range(2)]
    write_fashion(folder, *parts, zipped=True)
    with pytest.raises(DataError, match="wrong checksum of 4 of 4 files") as caught:
        examine("fashion-mnist", folder)
    path = folder / "train-labels-idx1-ubyte.gz"
    found = hashlib.md5(path.read_bytes()).hexdigest()
    line = f"{path.name}, {path.stat().st_size} bytes: expected 25c81989df183df01b3e8a0aad5dffbe, found {found}"
    assert line in caught.value.what
    assert caught.value.exit_code == 2


def test_many_files_are_one_line(folder, monkeypatch):
    monkeypatch.setattr(check, "MANY", 3)
    write_files(folder / "tiny-imagenet-200", tiny_tree())
    [line] = examine("tiny-imagenet", folder)["files"]
    assert line["files"] == 3 + 6
    assert line["checksum"] == "unknown"


def test_missing_files_and_unknown_names():
    with pytest.raises(DataError, match="EQUIPOISE_DATA is not set"):
        examine("cifar10", None)
    with pytest.raises(UnknownName, match="did you mean 'cifar10'"):
        examine("cifar1", None)


def test_overview_says_what_is_where(folder, rng):
    write_fashion(folder, *(random_images(rng, 2, 10, (1, 28, 28)) for _ in range(2)))
    (folder / "train_32x32.mat").touch()
    lines = {line["name"]: line for line in overview(folder)}
    assert lines["digits"]["where"] == "embedded"
    assert lines["fashion-mnist"]["found"]
    assert lines["fashion-mnist"]["where"] == str(folder / "train-images-idx3-ubyte.gz")
    assert not lines["svhn"]["found"]
    assert lines["svhn"]["where"] == "incomplete: 1 of 2 files are missing: test_32x32.mat"
    assert (lines["cifar100"]["found"], lines["cifar100"]["where"]) == (False, None)
    assert lines["cifar100"]["classes"] == 100
    assert all(line["summary"] for line in lines.values())


def test_overview_without_a_folder():
    assert {line["name"] for line in overview(None) if line["found"]} == EMBEDDED


def test_overview_of_interactions(folder):
    write_files(folder, {"movielens-100k/ml-100k/u.data": b""})
    lines = {line["name"]: line for line in overview(folder)}
    assert lines["digits"]["kind"] == "images"
    one, table = lines["movielens-1m"], lines["table"]
    assert (one["kind"], one["users"], one["items"], one["interactions"]) == ("interactions", 6040, 3706, 1_000_209)
    assert not one["found"]
    assert lines["movielens-100k"]["where"] == str(folder / "movielens-100k/ml-100k/u.data")
    assert (table["users"], table["found"], table["where"]) == (None, None, "the file that data.file names")


@pytest.mark.parametrize(("name", "files"), [("fashion-mnist", 3), ("tiny-imagenet", 3), ("cifar10", 7)])
def test_real_files_match_their_sums(real_data, name, files):
    report = examine(name, real_data)
    assert [line["checksum"] for line in report["files"]] == ["matches"] * files
    assert report["range"] == [0, 255]
    assert report["is_complete"] == (name != "tiny-imagenet")


@pytest.fixture
def plugged(monkeypatch):
    """Two sets that a plugin registers, and that nothing is published of."""
    DATASETS.names()  # all of ours are there before theirs come
    monkeypatch.setattr(DATASETS, "_entries", {**DATASETS._entries})
    images = Images(np.arange(40, dtype=np.uint8).reshape(10, 1, 2, 2), np.arange(10) % 2)
    DATASETS.register("shapes", options=ImageOptions, module="json")(
        lambda options, folder: Dataset("shapes", images, images.take(np.arange(4)), ("a", "b"), (0.5,), (0.2,))
    )
    DATASETS.register("shop", options=InteractionOptions, module="json")(
        lambda options, folder: DATASETS.find("planted").make(DATASETS.find("planted").options(), folder)
    )


@pytest.mark.usefixtures("plugged")
def test_a_set_of_a_plugin_is_listed_and_checked_without_published_sizes():
    """`data list` broke on a set that it had no published sizes of."""
    lines = {line["name"]: line for line in overview(None)}
    assert (lines["shapes"]["kind"], lines["shapes"]["train"], lines["shapes"]["shape"]) == ("images", None, None)
    assert (lines["shapes"]["found"], lines["shapes"]["where"]) == (None, "json")
    assert (lines["shop"]["kind"], lines["shop"]["users"]) == ("interactions", None)
    report = examine("shapes", None)
    assert report["splits"]["train"] == {"count": 10, "published": None, "labels": [5, 5]}
    assert (report["classes"], report["files"], report["is_complete"]) == (["a", "b"], [], False)
    assert examine("shop", None)["counts"]["users"]["count"] == 200


@pytest.mark.usefixtures("plugged")
def test_the_table_for_people_says_that_sizes_are_unknown(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    print_overview(overview(None))
    print_samples(examine("shapes", None))
    shown = capsys.readouterr().out
    for name in ("shapes", "shop", "folder", "npz", "table"):
        row = next(line for line in shown.splitlines() if f" {name} " in line)
        assert "as many as the file has" in row
    assert "the folder that data.folder names" in shown
    assert " 10 " in shown


def test_own_files_are_listed_with_their_sums(folder):
    write_folder(folder / "pets", {"cat": 3, "dog": 3})
    np.savez(folder / "x.npz", images=np.arange(64, dtype=np.uint8).reshape(4, 4, 4), labels=[0, 1, 0, 1])
    report = examine("folder", folder, FolderOptions(folder="pets"))
    assert [line["path"] for line in report["files"]][:2] == [
        str(folder / "pets/cat/00.png"),
        str(folder / "pets/cat/01.png"),
    ]
    assert report["splits"]["train"]["count"] == 4
    report = examine("npz", folder, NpzOptions(file="x.npz"))
    assert [line["path"] for line in report["files"]] == [str(folder / "x.npz")]
    assert report["shape"] == [1, 4, 4]
    with pytest.raises(DataError, match="no folder of images was named"):
        examine("folder", folder)
