from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

from equipoise.config.blocks import ImageOptions
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.core.values import Images
from equipoise.data.cifar import cifar10, cifar100

from .writers import binary_batch, npz, pack, python_batch, random_images, write_files, write_tar, xz

OPTIONS = ImageOptions()
SHAPE = (3, 32, 32)


@pytest.fixture
def batches(rng) -> list[Images]:
    """Five training batches of two images each, and a test batch of three."""
    return [random_images(rng, count, 10, SHAPE) for count in (2, 2, 2, 2, 2, 3)]


@pytest.fixture
def fine(rng) -> list[Images]:
    """CIFAR-100: train and test."""
    return [random_images(rng, count, 100, SHAPE) for count in (4, 3)]


def ten_binary(batches: list[Images]) -> dict[str, bytes]:
    names = [f"data_batch_{part}.bin" for part in range(1, 6)] + ["test_batch.bin"]
    files = {f"cifar-10-batches-bin/{name}": binary_batch(batch) for name, batch in zip(names, batches, strict=True)}
    return files | {"cifar-10-batches-bin/batches.meta.txt": b"airplane\n"}


def ten_python(batches: list[Images]) -> dict[str, bytes]:
    names = [f"data_batch_{part}" for part in range(1, 6)] + ["test_batch"]
    return {f"cifar-10-batches-py/{name}": python_batch(batch) for name, batch in zip(names, batches, strict=True)}


def hundred_binary(fine: list[Images]) -> dict[str, bytes]:
    names = ("train.bin", "test.bin")
    return {f"cifar-100-binary/{name}": binary_batch(part, True) for name, part in zip(names, fine, strict=True)}


def hundred_python(fine: list[Images]) -> dict[str, bytes]:
    parts = zip(("train", "test"), fine, strict=True)
    return {f"cifar-100-python/{name}": python_batch(part, b"fine_labels") for name, part in parts}


def check_equal(dataset, train: list[Images], test: Images) -> None:
    assert np.array_equal(dataset.train.pixels, np.concatenate([part.pixels for part in train]))
    assert np.array_equal(dataset.train.labels, np.concatenate([part.labels for part in train]))
    assert np.array_equal(dataset.test.pixels, test.pixels)
    assert np.array_equal(dataset.test.labels, test.labels)
    assert dataset.train.pixels.dtype == np.uint8
    assert dataset.train.pixels.flags["C_CONTIGUOUS"]
    assert dataset.train.labels.dtype == np.int64


@pytest.mark.parametrize(("write", "archive"), [(ten_binary, "cifar-10-binary"), (ten_python, "cifar-10-python")])
@pytest.mark.parametrize("is_archive", [True, False])
def test_cifar10_as_published(folder, batches, write, archive, is_archive):
    if is_archive:
        write_tar(folder / f"{archive}.tar.gz", write(batches))
    else:
        write_files(folder, write(batches))
    dataset = cifar10(OPTIONS, folder)
    check_equal(dataset, batches[:5], batches[5])
    assert dataset.classes[:2] == ("airplane", "automobile")
    assert len(dataset.classes) == 10


@pytest.mark.parametrize(
    ("write", "archive"), [(hundred_binary, "cifar-100-binary"), (hundred_python, "cifar-100-python")]
)
@pytest.mark.parametrize("is_archive", [True, False])
def test_cifar100_as_published_takes_the_fine_label(folder, fine, write, archive, is_archive):
    if is_archive:
        write_tar(folder / f"{archive}.tar.gz", write(fine))
    else:
        write_files(folder, write(fine))
    dataset = cifar100(OPTIONS, folder)
    check_equal(dataset, fine[:1], fine[1])
    assert len(set(dataset.classes)) == 100


def test_planes_are_red_green_blue_and_rows_go_down(folder):
    pixels = np.zeros((1, *SHAPE), np.uint8)
    record = bytes([7]) + bytes([200]) + bytes(1023) + bytes(1024) + bytes(1023) + bytes([9])
    pixels[0, 0, 0, 0], pixels[0, 2, 31, 31] = 200, 9
    names = [*(f"data_batch_{part}.bin" for part in range(1, 6)), "test_batch.bin"]
    write_files(folder / "cifar-10-batches-bin", dict.fromkeys(names, record))
    dataset = cifar10(OPTIONS, folder)
    assert np.array_equal(dataset.test.pixels, pixels)
    assert dataset.test.labels.tolist() == [7]


def test_a_folder_named_after_the_set_is_looked_into(folder, batches):
    write_files(folder / "cifar10", ten_binary(batches))
    assert len(cifar10(OPTIONS, folder).train) == 10


def write_packed(folder, batches: list[Images], parts: list[int]) -> None:
    files = {f"cifar10_train{part}_images.npy.xz": xz(pack(batches[part - 1].pixels)) for part in parts}
    train = np.concatenate([batch.labels for batch in batches[:5]]).astype(np.uint8)
    labels = npz(train=train, test=batches[5].labels.astype(np.uint8))
    rest = {"cifar10_test_images.npy.xz": xz(pack(batches[5].pixels)), "cifar10_labels.npz": labels}
    write_files(folder, files | rest)


def test_packed(folder, batches):
    write_packed(folder, batches, [1, 2])
    check_equal(cifar10(OPTIONS, folder), batches[:2], batches[5])


def test_a_gap_in_the_packed_parts_would_misalign_labels_and_is_refused(folder, batches):
    write_packed(folder, batches, [1, 3])
    with pytest.raises(DataError, match="cifar10_train2"):
        cifar10(OPTIONS, folder)


def test_too_few_packed_labels(folder, batches):
    write_packed(folder, batches, [1])
    labels = npz(train=np.zeros(1, np.uint8), test=batches[5].labels.astype(np.uint8))
    (folder / "cifar10_labels.npz").write_bytes(labels)
    with pytest.raises(DataError, match="expected at least 2 training labels, found 1"):
        cifar10(OPTIONS, folder)


def test_nothing_there_says_where_it_looked_and_how_to_get_it(folder):
    with pytest.raises(DataError) as caught:
        cifar10(OPTIONS, folder)
    for place in ("cifar-10-binary.tar.gz", "cifar-10-batches-py", "cifar10_train1_images.npy.xz", str(folder)):
        assert place in caught.value.where
    assert "equipoise data fetch cifar10" in caught.value.fix
    assert caught.value.exit_code == 2


def test_a_truncated_batch_says_the_expected_and_found_size(folder, batches):
    files = ten_binary(batches)
    files["cifar-10-batches-bin/data_batch_2.bin"] = files["cifar-10-batches-bin/data_batch_2.bin"][:-5]
    write_files(folder, files)
    with pytest.raises(DataError, match=f"data_batch_2.bin: expected a multiple of 3073 bytes, found {2 * 3073 - 5}"):
        cifar10(OPTIONS, folder)


def test_a_missing_batch_is_not_a_smaller_set(folder, batches):
    files = ten_binary(batches)
    del files["cifar-10-batches-bin/data_batch_4.bin"]
    write_files(folder, files)
    with pytest.raises(DataError, match=r"1 of 6 files are missing: data_batch_4\.bin"):
        cifar10(OPTIONS, folder)


def test_an_empty_batch_and_a_label_out_of_range(folder, batches):
    files = ten_binary(batches)
    write_files(folder, files | {"cifar-10-batches-bin/test_batch.bin": b""})
    with pytest.raises(DataError, match="expected images, found 0"):
        cifar10(OPTIONS, folder)
    write_files(folder, files | {"cifar-10-batches-bin/test_batch.bin": bytes([10]) + bytes(3072)})
    with pytest.raises(DataError, match="expected labels 0 to 9, found 10 to 10"):
        cifar10(OPTIONS, folder)


def test_a_truncated_archive_and_one_without_a_batch(folder, batches):
    files = ten_binary(batches)
    path = folder / "cifar-10-binary.tar.gz"
    write_tar(path, files)
    path.write_bytes(path.read_bytes()[:-3000])
    with pytest.raises(DataError, match="not a whole archive"):
        cifar10(OPTIONS, folder)
    path.write_bytes(b"<html>404</html>")
    with pytest.raises(DataError, match="not a whole archive"):
        cifar10(OPTIONS, folder)
    del files["cifar-10-batches-bin/test_batch.bin"]
    write_tar(path, files)
    with pytest.raises(DataError, match=r"expected 6 files inside, found 5: no test_batch\.bin"):
        cifar10(OPTIONS, folder)


def test_a_malicious_batch_runs_nothing(folder, batches, tmp_path):
    class Malicious:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    files = ten_python(batches) | {"cifar-10-batches-py/data_batch_3": pickle.dumps(Malicious())}
    write_files(folder, files)
    with pytest.raises(DataError, match="nothing was run") as caught:
        cifar10(OPTIONS, folder)
    assert not (tmp_path / "made").exists()
    assert caught.value.where.endswith("data_batch_3")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({b"labels": [1]}, "'data'"),
        ({b"data": np.zeros((1, 3072)), b"labels": [1]}, "'data'"),
        ({b"data": np.zeros((1, 3072), np.uint8)}, "'labels'"),
        ({b"data": np.zeros((1, 3072), np.uint8), b"labels": ["1"]}, "'labels'"),
        ({b"data": np.zeros((2, 3072), np.uint8), b"labels": [1]}, "found 1 labels, 2 images"),
    ],
)
def test_a_pickle_of_something_else(folder, batches, content, why):
    write_files(folder, ten_python(batches) | {"cifar-10-batches-py/test_batch": pickle.dumps(content, protocol=3)})
    with pytest.raises(DataError, match=why):
        cifar10(OPTIONS, folder)


def test_real_cifar10(real_data):
    dataset = DATASETS.find("cifar-10").make(OPTIONS, real_data)
    assert dataset.train.labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert dataset.test.labels[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
    assert np.bincount(dataset.train.labels).tolist() == [5000] * 10
    assert np.bincount(dataset.test.labels).tolist() == [1000] * 10
    shares = dataset.train.pixels.astype(np.float32) / 255
    assert np.allclose(shares.mean(axis=(0, 2, 3), dtype=float), dataset.mean, atol=1e-5)
    assert np.allclose(shares.std(axis=(0, 2, 3), dtype=float), dataset.std, atol=1e-5)
