from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from equipoise.core.errors import DataError
from equipoise.core.values import Images
from equipoise.data.cache import cache_folder, cached, content_key, file_digest
from equipoise.data.source import Found, Pair


class Decoder:
    """Counts how often it is asked."""

    def __init__(self, shade: int = 5) -> None:
        self.calls, self.shade = 0, shade

    def __call__(self) -> Pair:
        self.calls += 1
        train = Images(np.full((4, 3, 2, 2), self.shade, np.uint8), np.arange(4))
        return train, train.take(np.array([0]))


@pytest.fixture
def source(folder) -> Path:
    path = folder / "source.bin"
    path.write_bytes(b"content")
    return path


def parts(cache: Path) -> list[Path]:
    return sorted(cache.iterdir())


def test_decoded_once_then_mapped(source, cache):
    decode = Decoder()
    first = cached("toy", Found((source,), decode))
    second = cached("toy", Found((source,), decode))
    assert decode.calls == 1
    assert [path.suffix for path in parts(cache)] == [".npy"] * 4
    for pair in (first, second):
        assert isinstance(pair[0].pixels, np.memmap)
        assert (pair[0].pixels == 5).all()
        assert pair[0].labels.tolist() == [0, 1, 2, 3]
        assert pair[1].labels.tolist() == [0]


def test_mapped_pixels_cannot_be_written_but_serve_torch_without_a_warning(source):
    train, _ = cached("toy", Found((source,), Decoder()))
    with pytest.raises(ValueError, match="read-only"):
        train.pixels[0] = 1
    assert torch.from_numpy(train.pixels[np.array([2, 0])]).shape == (2, 3, 2, 2)
    assert torch.tensor(train.pixels[:2]).shape == (2, 3, 2, 2)
    assert torch.from_numpy(train.labels).tolist() == [0, 1, 2, 3]


def test_a_changed_source_is_never_served_from_the_old_cache(source):
    cached("toy", Found((source,), Decoder(shade=5)))
    before = source.stat()
    source.write_bytes(b"CONTENT")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    train, _ = cached("toy", Found((source,), Decoder(shade=9)))
    assert (train.pixels == 9).all()


def test_the_key_is_of_content_and_of_names_below_the_common_folder(folder):
    for place in ("here", "there"):
        for name in ("a/x", "b/y"):
            (folder / place / name).parent.mkdir(parents=True)
            (folder / place / name).write_bytes(name.encode())
    keys = {content_key((folder / place / "a/x", folder / place / "b/y")) for place in ("here", "there")}
    assert len(keys) == 1
    (folder / "there/b/x").write_bytes(b"a/x")
    assert content_key((folder / "there/b/x", folder / "there/b/y")) not in keys


@pytest.mark.parametrize("damage", [lambda d: d[:-1], lambda d: d + b"x", lambda d: b"", lambda d: b"junk" * 40])
@pytest.mark.parametrize("part", range(4))
def test_a_corrupted_cache_file_is_rebuilt(source, cache, damage, part):
    decode = Decoder()
    cached("toy", Found((source,), decode))
    path = parts(cache)[part]
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    train, _ = cached("toy", Found((source,), decode))
    assert decode.calls == 2
    assert (train.pixels == 5).all()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("wrong", [np.zeros((4, 3, 2, 2)), np.zeros((3, 3, 2, 2), np.uint8), np.zeros(4, np.uint8)])
def test_another_array_in_the_cache_is_rebuilt(source, cache, wrong):
    decode = Decoder()
    cached("toy", Found((source,), decode))
    pixels = next(path for path in parts(cache) if path.name.endswith("train-pixels.npy"))
    np.save(pixels, wrong)
    assert cached("toy", Found((source,), decode))[0].pixels.shape == (4, 3, 2, 2)
    assert decode.calls == 2


def test_a_cache_that_cannot_be_written_is_no_cache(source, monkeypatch, folder):
    (folder / "a-file").touch()
    monkeypatch.setenv("EQUIPOISE_CACHE", str(folder / "a-file"))
    decode = Decoder()
    for calls in (1, 2):
        train, _ = cached("toy", Found((source,), decode))
        assert (train.pixels == 5).all()
        assert decode.calls == calls


def test_a_write_that_fails_midway_leaves_nothing_behind(source, cache, monkeypatch):
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("equipoise.data.cache.os.fsync", full)
    train, _ = cached("toy", Found((source,), Decoder()))
    assert (train.pixels == 5).all()
    assert parts(cache) == []


def test_the_folder_comes_from_the_variable_or_the_home(monkeypatch, cache):
    assert cache_folder() == cache
    monkeypatch.delenv("EQUIPOISE_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "equipoise"


def test_a_source_that_cannot_be_read(folder):
    with pytest.raises(DataError, match="it cannot be read"):
        file_digest(folder, "sha256")


def test_sums(source):
    import hashlib

    assert file_digest(source, "sha256") == hashlib.sha256(b"content").hexdigest()
    assert file_digest(source, "md5") == hashlib.md5(b"content").hexdigest()
