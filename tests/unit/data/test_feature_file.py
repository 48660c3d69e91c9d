from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import save_file

from equipoise.core.errors import DataError
from equipoise.data.feature_file import FeatureFileOptions, features

CLASSES = np.array([0, 1, 2] * 10)


def rows(n: int = 30, width: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(3, 2, (n, width)).astype(np.float32)


def read(folder, arrays, name="f.npz", **options):
    path = folder / name
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        save_file(arrays, path)
    return features(FeatureFileOptions(file=name, **options), folder)


@pytest.mark.parametrize("name", ["f.npz", "f.safetensors"])
def test_both_parts_are_taken_as_they_are(name, tmp_path):
    test = {"test_features": rows(6, seed=1), "test_labels": CLASSES[:6]}
    found = read(tmp_path, {"features": rows(), "labels": CLASSES, **test}, name)
    assert np.array_equal(found.train.inputs, rows())
    assert np.array_equal(found.test.inputs, test["test_features"])
    assert found.train.labels.tolist() == CLASSES.tolist()
    assert found.classes == ("0", "1", "2")
    assert np.allclose(found.inputs.prepare(found.test.inputs), test["test_features"])
    assert found.inputs.shape(found.train.inputs) == (4,)


def test_without_a_test_part_a_share_of_each_class_is_held_out(tmp_path):
    found = read(
        tmp_path, {"features": rows(), "labels": CLASSES, "classes": np.array(["a", "b", "c"])}, test_share=0.3
    )
    assert np.bincount(found.test.labels).tolist() == [3, 3, 3]
    assert len(found.train) == 21
    assert found.classes == ("a", "b", "c")


def test_columns_are_standardised_by_the_training_rows(tmp_path):
    stored = rows()
    stored[:, 1] = 7
    found = read(tmp_path, {"features": stored, "labels": CLASSES}, scale="columns")
    prepared = found.inputs.prepare(found.train.inputs).numpy()
    assert np.allclose(prepared.mean(0), 0, atol=1e-5)
    assert np.allclose(prepared.std(0), [1, 0, 1, 1], atol=1e-5)


def test_half_precision_and_whole_numbers_are_numbers(tmp_path):
    for kind in (np.float16, np.float64, np.int64, np.uint8):
        found = read(tmp_path, {"features": rows().astype(kind), "labels": CLASSES.astype(np.int32)})
        assert found.train.inputs.dtype == np.float32


def nan():
    bad = rows()
    bad[[4, 9], 1] = np.nan
    return bad


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"features": rows()}, "it holds features; missing: labels"),
        ({"features": rows(), "labels": CLASSES[:-1]}, r"'labels' has shape \(29,\) beside 30 rows"),
        (
            {"features": nan(), "labels": CLASSES},
            "2 of 30 rows of 'features' hold numbers that are not finite, .* is 4",
        ),
        ({"features": rows()[:, :, None], "labels": CLASSES}, r"is float32 of shape \(30, 4, 1\), expected numbers"),
        ({"features": rows().astype(str), "labels": CLASSES}, "expected numbers of shape"),
        ({"features": rows()[:, :0], "labels": CLASSES}, r"of shape \(30, 0\)"),
        ({"features": rows().astype(object), "labels": CLASSES}, "Python objects, which are never unpickled"),
        ({"features": rows(), "labels": CLASSES + 0.5}, "labels are whole numbers"),
        ({"features": rows(), "labels": CLASSES - 1}, "labels from -1 to 1"),
        ({"features": rows(), "labels": CLASSES * 0}, "there is one class"),
        ({"features": rows(), "labels": np.where(CLASSES == 2, 3, CLASSES)}, r"class 2 \('2'\) has 0, needed: 2"),
        ({"features": rows(), "labels": CLASSES, "classes": np.array(["a"])}, "1 names of classes, and labels up to 2"),
        (
            {"features": rows(), "labels": CLASSES, "test_features": rows(3, 5), "test_labels": CLASSES[:3]},
            "training rows have 4 features, and test rows 5",
        ),
        (
            {"features": rows(), "labels": CLASSES, "test_features": rows(3), "test_labels": CLASSES[:3] + 1},
            r"class 3 \('3'\) has 0, needed: 1",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(arrays, says, tmp_path):
    with pytest.raises(DataError, match=says) as caught:
        read(tmp_path, arrays)
    assert caught.value.exit_code == 2
    assert caught.value.fix


def test_other_files_are_refused(tmp_path):
    np.save(tmp_path / "f.npy", rows())
    with pytest.raises(DataError, match="it holds one array without a name"):
        features(FeatureFileOptions(file="f.npy"), tmp_path)
    for name in ("f.npz", "f.safetensors"):
        (tmp_path / name).write_bytes(b"no file of this kind")
        with pytest.raises(DataError, match="not a whole"):
            features(FeatureFileOptions(file=name), tmp_path)
    with pytest.raises(DataError, match="no file of features was named"):
        features(FeatureFileOptions(), None)
    test = {"test_features": rows(3), "test_labels": CLASSES[:3]}
    with pytest.raises(DataError, match="would do nothing"):
        read(tmp_path, {"features": rows(), "labels": CLASSES, **test}, test_share=0.5)
