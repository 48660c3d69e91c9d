"""Download the official files of a set, verify their checksums, and resume interrupted downloads.

    address → FILE.part (continued by a Range request) → md5 → renamed to FILE

A file gets its final name only when its md5 is right. A file that is already there and right is not fetched again.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS
from equipoise.data.cache import file_digest
from equipoise.data.known import KNOWN, OWN_IMAGES, Download, Known
from equipoise.data.source import FOLDER_VARIABLE, data_folder

MIRROR_VARIABLE = "EQUIPOISE_MIRROR"
TRIES = 3
TIMEOUT = 30.0
BLOCK = 1 << 18
_BROKEN = (URLError, HTTPException, ConnectionError, TimeoutError, ssl.SSLError)

Progress = Callable[[str, int, int | None], None]
"""Called with the file name, the bytes received so far, and the total if the server gives it."""


@dataclass(frozen=True)
class Fetched:
    """A file that is present; `is_new` if this call downloaded it."""

    path: Path
    n_bytes: int
    is_new: bool


def silent(name: str, done: int, total: int | None) -> None:
    """A progress callback that does nothing."""


def fetch(name: str, path: Path | None, progress: Progress = silent, mirror: str | None = None) -> list[Fetched]:
    """Download the files of a set into the data folder; an embedded set has none.

    `mirror`, or EQUIPOISE_MIRROR, replaces everything before the file's name in each address.
    """
    known = _known(name)
    folder = data_folder(path)
    if not known.downloads:
        return []
    if folder is None:
        fix = f"give --path FOLDER, or set {FOLDER_VARIABLE}"
        raise DataError(f"there is no folder to put '{name}' into", where=f"{FOLDER_VARIABLE} is not set", fix=fix)
    base = mirror or os.environ.get(MIRROR_VARIABLE)
    return [_fetch_one(item, folder, progress, base) for item in known.downloads]


def terms_of(name: str) -> str:
    """The terms that the authors of a set attach to it; empty if they are only on its own pages."""
    return _known(name).terms


def _known(name: str) -> Known:
    """What is published of a set; a user's own set, or a plugin's, has no downloads."""
    return KNOWN.get(DATASETS.find(name, "data").name, OWN_IMAGES)


def _fetch_one(item: Download, folder: Path, progress: Progress, base: str | None) -> Fetched:
    path = folder / item.folder / item.name
    if path.is_file() and file_digest(path, "md5") == item.md5:
        return Fetched(path, path.stat().st_size, is_new=False)
    address = f"{base.rstrip('/')}/{item.name}" if base else item.address
    part = path.with_name(f"{item.name}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        _download(address, part, lambda done, total: progress(item.name, done, total))
        _verify(part, item.md5, address)
        os.replace(part, path)
    except OSError as error:
        what = f"cannot write {part.name}: {error.strerror or error}"
        raise DataError(
            what, where=str(part.parent), fix="free the disk or choose a folder that can be written"
        ) from error
    return Fetched(path, path.stat().st_size, is_new=True)


def _verify(part: Path, md5: str, address: str) -> None:
    found = file_digest(part, "md5")
    if found != md5:
        size = part.stat().st_size
        part.unlink()
        what = f"wrong checksum: expected md5 {md5}, found {found} in {size} bytes, which were deleted"
        raise DataError(what, where=address, fix=f"try again, or name another address in {MIRROR_VARIABLE}")


def _download(address: str, part: Path, report: Callable[[int, int | None], None]) -> None:
    """Fill `part`; a broken connection is resumed where it broke."""
    cause = ""
    for _ in range(TRIES):
        cause = _transfer(address, part, report)
        if not cause:
            return
    have = part.stat().st_size if part.is_file() else 0
    what = f"the download broke off {TRIES} times, with {have} bytes there: {cause}"
    raise DataError(what, where=address, fix="run the command again: it continues where it stopped")


def _transfer(address: str, part: Path, report: Callable[[int, int | None], None]) -> str:
    """Use one connection; return what broke it, or an empty text when the file is complete."""
    have = part.stat().st_size if part.is_file() else 0
    try:
        request = Request(address, headers={"Range": f"bytes={have}-"} if have else {})
        if request.type not in {"http", "https"}:
            raise ValueError(f"not an http address: {address}")
        with urlopen(request, timeout=TIMEOUT) as response:
            return _append(response, part, have, report)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:
            return ""  # nothing is left to send: the part is whole, or its checksum will say otherwise
        what = f"the server answered {error.code} {error.reason}"
        raise DataError(what, where=address, fix=f"name another address in {MIRROR_VARIABLE}") from error
    except ValueError as error:
        raise DataError(str(error), where=address, fix=f"check {MIRROR_VARIABLE}") from error
    except _BROKEN as error:
        return str(error) or type(error).__name__


def _append(response: HTTPResponse, part: Path, have: int, report: Callable[[int, int | None], None]) -> str:
    """Append what the server sends; if it ignores the Range request, start again from the first byte."""
    is_rest = response.status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
    if response.status == 206 and not is_rest:
        part.unlink()
        return f"the server sent {response.headers.get('Content-Range')} when asked for bytes from {have}"
    done = have if is_rest else 0
    length = response.headers.get("Content-Length")
    total = done + int(length) if length else None
    with part.open("ab" if is_rest else "wb") as file:
        while block := response.read(BLOCK):
            file.write(block)
            done += len(block)
            report(done, total)
        file.flush()
        os.fsync(file.fileno())
    return f"expected {total} bytes, found {done}" if total is not None and done < total else ""
