"""A machine's share of a federation: the samples or histories of its clients, in a folder of two files.

    share.npz       the arrays of its site        share.json      which clients they are, and the facts of the site

The driver and the machine compare a hash of the share, so that both mean the same clients with the same data. A folder
of several such folders serves several studies: the key says which data, split and seed a share was made from.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, DataError
from equipoise.kind.site import Arrays, Shared, Site

ARRAYS, FACTS = "share.npz", "share.json"


@dataclass(frozen=True)
class Share:
    clients: Sequence[int]
    n_clients: int
    """Clients of the whole federation."""
    arrays: Arrays
    facts: Mapping[str, Any]
    key: str


def data_key(config: Config) -> str:
    """Hash of the settings that decide which client has which data."""
    content = config.model_dump_json(include={"data", "partition", "scenario", "seed"})
    return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


def digest(shared: Shared) -> str:
    """Hash of what a site holds: every array with its name, type and shape, and the facts."""
    arrays, facts = shared
    found = hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(array.data if array.size else b"")
    return found.hexdigest()


def dealt(n_clients: int, machines: Sequence[str]) -> dict[str, list[int]]:
    """Clients dealt out to machines, one after another."""
    return {name: list(range(place, n_clients, len(machines))) for place, name in enumerate(machines)}


def write_share(site: Site, clients: Sequence[int], folder: Path) -> Path:
    """The share of these clients. A folder that has one is refused."""
    if not site.is_listed:
        what = "clients that are drawn on demand have no samples of their own to give away"
        raise ConfigError(what, where="partition", fix="another partition, or give each machine the whole data set")
    if (folder / FACTS).exists():
        raise ConfigError(f"{folder} holds a share already", where=str(folder), fix="another folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    arrays, facts = site.only(clients).shared()
    np.savez(folder / ARRAYS, allow_pickle=False, **dict(arrays))
    about = {"key": data_key(site.config), "clients": list(clients), "n_clients": site.n_clients, "facts": dict(facts)}
    (folder / FACTS).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return folder


def shares_in(folder: Path) -> list[Path]:
    """The folder itself if it is a share, otherwise those of its folders that are."""
    return sorted(path.parent for path in [*folder.glob(FACTS), *folder.glob(f"*/{FACTS}")])


def share_for(folder: Path, config: Config) -> Share | None:
    """The share that was made for such a run; None if there are no shares. A single one is taken as it is."""
    shares = [read_share(path) for path in shares_in(folder)]
    fitting = shares if len(shares) == 1 else [share for share in shares if share.key == data_key(config)]
    if shares and not fitting:
        what = f"none of its {len(shares)} shares was made from that data, split and seed"
        raise DataError(what, where=folder.name, fix="make one: equipoise federation split")
    return fitting[0] if fitting else None


def read_share(folder: Path) -> Share:
    try:
        about = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        with np.load(folder / ARRAYS, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return Share(_whole(about["clients"]), int(about["n_clients"]), arrays, dict(about["facts"]), str(about["key"]))
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        what = f"the share in {folder.name} cannot be read: {type(error).__name__}: {error}"
        raise DataError(what, where=folder.name, fix="make it again: equipoise federation split") from error


def _whole(numbers: Iterable[Any]) -> list[int]:
    found = [int(number) for number in numbers]
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise ValueError(f"clients must be different whole numbers, got {found[:5]}")
    return found
