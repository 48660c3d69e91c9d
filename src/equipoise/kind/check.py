"""Reports what a data set holds: counts, labels or histories, values and checksums, beside the published ones.

Sets without published sizes, the user's own or a plugin's, are reported without them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equipoise.config.blocks import DataOptions
from equipoise.config.kinds import kind_of
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS, Entry
from equipoise.data.cache import content_key, file_digest
from equipoise.data.known import KNOWN, Known
from equipoise.data.own import OWN_FILES
from equipoise.data.source import SOURCES, data_folder, locate, search

MANY = 50
"""More files than this are reported as one line."""
OWN = {"own-file": "the file that data.file names", "own-folder": "the folder that data.folder names"}
"""Traits of sets that are read from the user's own files, and the setting that locates them."""


def overview(folder: Path | None) -> list[dict[str, Any]]:
    """All data sets, and whether their files are in the data folder."""
    return [_line(entry, data_folder(folder)) for entry in DATASETS]


def _line(entry: Entry[Any], folder: Path | None) -> dict[str, Any]:
    known = known_of(entry)
    (holds, size), kind = known.summary(), kind_of(entry.name).name
    about = {"name": entry.name, "summary": entry.summary, "kind": kind, "holds": holds, "size": size}
    about["package"] = entry.package
    return {**about, **known.facts(), **_presence(entry, folder)}


def known_of(entry: Entry[Any]) -> Known:
    """The published facts of a set; sizes are None if none are published."""
    unpublished: Known = kind_of(entry.name).load("unpublished")
    return KNOWN.get(entry.name, unpublished)


def _presence(entry: Entry[Any], folder: Path | None) -> dict[str, Any]:
    source = SOURCES.get(entry.name)
    for trait in OWN.keys() & entry.traits:
        return {"found": None, "where": OWN[trait]}
    if source is None:
        return {"found": True, "where": "embedded"} if entry.name in KNOWN else {"found": None, "where": entry.module}
    try:
        found = search(source, folder) if folder is not None else None
    except DataError as error:
        return {"found": False, "where": f"incomplete: {error.what}"}
    return {"found": found is not None, "where": str(found.files[0]) if found else None}


def examine(name: str, folder: Path | None, options: DataOptions | None = None) -> dict[str, Any]:
    """Everything that `equipoise data check` prints; a file with the wrong checksum is a DataError."""
    entry = DATASETS.find(name, "data")
    settings = options or entry.options.model_validate({"name": entry.name})
    assert isinstance(settings, DataOptions)
    known = known_of(entry)
    files = _files(_paths(entry.name, settings, folder), known)
    content = entry.make(settings, folder)
    kind = kind_of(entry.name)
    report = kind.load("describe")(content, settings, known, folder)
    return {"name": entry.name, "kind": kind.name, **report, "files": files}


def _paths(name: str, settings: DataOptions, folder: Path | None) -> tuple[Path, ...]:
    """The files of a set; empty for an embedded set, or a plugin's set that declares no files."""
    if name in OWN_FILES:
        return OWN_FILES[name](settings, folder)
    return locate(SOURCES[name], folder).files if name in SOURCES else ()


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
    """Size and checksums of one file, and whether they match the published ones."""
    sha256, md5, expected_md5 = file_digest(path, "sha256"), None, known.known_md5(path.name)
    expected, actual = known.sha256.get(path.name), sha256
    if expected_md5 is not None:
        md5 = file_digest(path, "md5")
        expected, actual = expected_md5, md5
    verdict = "unknown" if expected is None else "matches" if expected == actual else "wrong"
    sums = {"sha256": sha256} | ({"md5": md5} if md5 else {})
    size = {"path": str(path), "bytes": path.stat().st_size}
    return size | sums | {"checksum": verdict, "expected": expected, "is": actual}
