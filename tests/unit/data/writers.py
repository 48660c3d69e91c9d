"""Small image sets written in the exact layouts their authors use."""

from __future__ import annotations

import gzip
import io
import lzma
import pickle
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from PIL import Image

from equipoise.core.values import Images


def random_images(rng: np.random.Generator, count: int, classes: int, shape: tuple[int, ...]) -> Images:
    pixels = rng.integers(0, 256, (count, *shape), dtype=np.uint8)
    return Images(pixels, rng.integers(0, classes, count))


def binary_batch(images: Images, coarse: bool = False) -> bytes:
    """Records of label byte(s) and 3072 planar pixels; with `coarse`, a byte that is not the label comes first."""
    records = []
    for pixels, label in zip(images.pixels, images.labels, strict=True):
        first = bytes([int(label) // 5]) if coarse else b""
        records.append(first + bytes([int(label)]) + pixels.tobytes())
    return b"".join(records)


class Python2Pickler(pickle._Pickler):
    """Byte strings as Python 2 wrote them in protocol 2, which Python 3 no longer does."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)

    def save_python2_string(self, text: bytes) -> None:
        short = len(text) < 256
        self.write(b"U" + bytes([len(text)]) + text if short else b"T" + struct.pack("<i", len(text)) + text)
        self.memoize(text)

    dispatch[bytes] = save_python2_string


def python_batch(images: Images, key: bytes = b"labels") -> bytes:
    content = {
        b"data": images.pixels.reshape(len(images), -1),
        key: [int(label) for label in images.labels],
        b"batch_label": b"training batch 1 of 5",
        b"filenames": [b"leptodactylus_pentadactylus_s_000004.png"] * len(images),
    }
    return python2_pickle(content)


def python2_pickle(content: Any) -> bytes:
    stream = io.BytesIO()
    Python2Pickler(stream, protocol=2).dump(content)
    return stream.getvalue().replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")


def write_tar(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def idx(array: np.ndarray) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_fashion(folder: Path, train: Images, test: Images, zipped: bool = True) -> None:
    for part, images in {"train": train, "t10k": test}.items():
        for kind, array in {"images-idx3": images.pixels[:, 0], "labels-idx1": images.labels.astype(np.uint8)}.items():
            content = idx(array)
            suffix = ".gz" if zipped else ""
            files = {f"{part}-{kind}-ubyte{suffix}": gzip.compress(content) if zipped else content}
            write_files(folder, files)


def xz(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return lzma.compress(stream.getvalue())


def pack(pixels: np.ndarray) -> np.ndarray:
    """[N, 3, H, W] → residual planes [3, N, H, W], pixel by pixel as the definition of MED reads."""
    red, green, blue = pixels.transpose(1, 0, 2, 3).astype(int)
    planes = np.stack([(red - green + 128) % 256, green, (blue - green + 128) % 256])
    residuals = np.empty_like(planes)
    for k, n, y, x in np.ndindex(*planes.shape):
        left = planes[k, n, y, x - 1] if x else 0
        up = planes[k, n, y - 1, x] if y else 0
        corner = planes[k, n, y - 1, x - 1] if x and y else 0
        if corner >= max(left, up):
            guess = min(left, up)
        elif corner <= min(left, up):
            guess = max(left, up)
        else:
            guess = left + up - corner
        residuals[k, n, y, x] = (planes[k, n, y, x] - guess) % 256
    return residuals.astype(np.uint8)


def npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def jpeg(colour: tuple[int, int, int] | int, size: int = 8) -> bytes:
    """One flat image, which JPEG keeps to within a few values; one number makes it grey."""
    stream = io.BytesIO()
    mode = "L" if isinstance(colour, int) else "RGB"
    Image.new(mode, (size, size), colour).save(stream, "JPEG", quality=100, subsampling=0)
    return stream.getvalue()


def tiny_tree() -> dict[str, bytes]:
    """Two classes; `wnids.txt` is not sorted and the second class is brighter."""
    return {
        "wnids.txt": b"n02\nn01\n",
        "words.txt": b"n00\tentity\nn01\tdark thing\nn02\tbright thing, lamp\n",
        "train/n02/images/n02_0.JPEG": jpeg((200, 210, 220)),
        "train/n02/images/n02_1.JPEG": jpeg(230),
        "train/n02/n02_boxes.txt": b"n02_0.JPEG\t0\t0\t7\t7\n",
        "train/n01/images/n01_0.JPEG": jpeg((10, 20, 30)),
        "val/images/val_0.JPEG": jpeg((205, 205, 205)),
        "val/images/val_1.JPEG": jpeg((15, 15, 15)),
        "val/val_annotations.txt": b"val_0.JPEG\tn02\t0\t0\t7\t7\nval_1.JPEG\tn01\t0\t0\t7\t7\n",
        "test/images/test_0.JPEG": jpeg((99, 99, 99)),
    }


def write_tiny_zip(path: Path, tree: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.mkdir("tiny-imagenet-200")
        for name, content in tree.items():
            archive.writestr(f"tiny-imagenet-200/{name}", content)
