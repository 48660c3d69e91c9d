"""What a set really holds: counts, labels or histories, values and checksums, beside what was published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from equipoise.config.blocks import DataOptions, InteractionOptions
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS, Entry
from equipoise.core.values import Dataset, Images, Pixels
from equipoise.data.cache import content_key, file_digest
from equipoise.data.known import Known, KnownImages, KnownInteractions, known_of
from equipoise.data.source import SOURCES, data_folder, locate, search
from equipoise.data.table import TableOptions, table_file
from equipoise.kind.check_interactions import describe_interactions

MANY = 50
"""More files than this are reported as one line."""

CHUNK = 1000


def overview(folder: Path | None) -> list[dict[str, Any]]:
    """Every set there is, and whether its files are in the data folder."""
    return [_line(entry, data_folder(folder)) for entry in DATASETS]


def _line(entry: Entry[Any], folder: Path | None) -> dict[str, Any]:
    what = {"name": entry.name, "summary": entry.summary, "package": entry.package}
    return {**what, **_size(known_of(entry)), **_presence(entry, folder)}


def _size(known: Known) -> dict[str, Any]:
    if isinstance(known, KnownInteractions):
        counts = {"users": known.users, "items": known.items, "interactions": known.interactions}
        return {"kind": "interactions", **counts}
    assert isinstance(known, KnownImages)
    facts = {
        "classes": known.n_classes,
        "shape": known.shape and list(known.shape),
        "train": known.train,
        "test": known.test,
    }
    return {"kind": "images", **facts}


def _presence(entry: Entry[Any], folder: Path | None) -> dict[str, Any]:
    source = SOURCES.get(entry.name)
    if "own-file" in entry.traits:
        return {"found": None, "where": "the file that data.file names"}
    if source is None:
        return {"found": True, "where": entry.package or "embedded"}
    try:
        found = search(source, folder) if folder is not None else None
    except DataError as error:
        return {"found": False, "where": f"incomplete: {error.what}"}
    return {"found": found is not None, "where": str(found.files[0]) if found else None}


def examine(name: str, folder: Path | None, options: DataOptions | None = None) -> dict[str, Any]:
    """Everything `equipoise data check` prints; a file with the wrong checksum is a DataError."""
    entry = DATASETS.find(name, "data")
    settings = options or entry.options.model_validate({"name": entry.name})
    assert isinstance(settings, DataOptions)
    known, source = known_of(entry), SOURCES.get(entry.name)
    paths = locate(source, folder).files if source else ()
    paths = (table_file(settings, folder),) if isinstance(settings, TableOptions) else paths
    files = _files(paths, known)
    content = entry.make(settings, folder)
    if isinstance(settings, InteractionOptions):
        assert isinstance(known, KnownInteractions)
        report = describe_interactions(content, settings, known, folder)
    else:
        assert isinstance(known, KnownImages)
        report = _describe_images(content, known)
    return {"name": entry.name, **report, "files": files}


def _describe_images(dataset: Dataset, known: KnownImages) -> dict[str, Any]:
    splits = {"train": _split(dataset.train, known.train), "test": _split(dataset.test, known.test)}
    return {
        "kind": "images",
        "classes": list(dataset.classes),
        "shape": list(dataset.train.pixels.shape[1:]),
        "splits": splits,
        "is_complete": all(split["published"] in (None, split["count"]) for split in splits.values()),
        **_statistics(dataset.train.pixels),
        "normalises_with": {"mean": list(dataset.mean), "std": list(dataset.std)},
    }


def _split(images: Images, published: int | None) -> dict[str, Any]:
    return {"count": len(images), "published": published, "labels": np.bincount(images.labels).tolist()}


def _statistics(pixels: Pixels) -> dict[str, Any]:
    """Range, and mean and deviation per channel of [0, 1], exactly, from how often each value occurs."""
    channels = pixels.shape[1]
    counts = np.zeros((channels, 256), np.int64)
    for start in range(0, len(pixels), CHUNK):
        for channel in range(channels):
            counts[channel] += np.bincount(pixels[start : start + CHUNK, channel].reshape(-1), minlength=256)
    values, shares = np.arange(256) / 255, counts / counts.sum(axis=1, keepdims=True)
    mean = shares @ values
    std = np.sqrt(shares @ values**2 - mean**2)
    present = np.flatnonzero(counts.sum(axis=0))
    return {"range": [int(present[0]), int(present[-1])], "mean": mean.tolist(), "std": std.tolist()}


def _files(files: tuple[Path, ...], known: Known) -> list[dict[str, Any]]:
    if len(files) > MANY:
        size = sum(path.stat().st_size for path in files)
        everything = {"path": str(files[0].parent), "files": len(files), "bytes": size}
        return [everything | {"content": content_key(files), "checksum": "unknown"}]
    lines = [_file(path, known) for path in files]
    wrong = [line for line in lines if line["checksum"] == "wrong"]
    if wrong:
        what = f"wrong checksum of {len(wrong)} of {len(lines)} files:" + "".join(
            f"\n  - {Path(line['path']).name}, {line['bytes']} bytes: expected {line['expected']}, found {line['is']}"
            for line in wrong
        )
        fix = "delete these files and get them again (`equipoise data fetch`)"
        raise DataError(what, where=str(files[0].parent), fix=fix)
    return [{key: value for key, value in line.items() if key not in {"expected", "is"}} for line in lines]


def _file(path: Path, known: Known) -> dict[str, Any]:
    """Size and sums of one file, and whether they are the published ones."""
    sha256, md5, expected_md5 = file_digest(path, "sha256"), None, known.known_md5(path.name)
    expected, actual = known.sha256.get(path.name), sha256
    if expected_md5 is not None:
        md5 = file_digest(path, "md5")
        expected, actual = expected_md5, md5
    verdict = "unknown" if expected is None else "matches" if expected == actual else "wrong"
    sums = {"sha256": sha256} | ({"md5": md5} if md5 else {})
    size = {"path": str(path), "bytes": path.stat().st_size}
    return size | sums | {"checksum": verdict, "expected": expected, "is": actual}
