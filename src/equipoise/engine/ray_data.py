"""The data on its way to the machines of a Ray cluster: once through the object store, or by path.

object store: every machine holds one copy, which its workers read in place
by path:      <data_folder>/<hash>.site, written once, mapped into memory where it is read
"""

from __future__ import annotations

import mmap
import os
import tempfile
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.engine.shared import share
from equipoise.kind.site import Site


@dataclass
class Sent:
    """Where the data is: an object of Ray's, or a path."""

    layout: bytes
    ref: Any
    path: str | None

    def close(self) -> None:
        self.ref = None


def sent(site: Site, folder: str | None) -> Sent:
    descriptor, layout = share(site)
    try:
        size = max(1, os.fstat(descriptor).st_size)
        os.ftruncate(descriptor, size)
        with mmap.mmap(descriptor, size, access=mmap.ACCESS_READ) as memory:
            if folder is not None:
                return Sent(layout, None, str(written(memory, Path(folder))))
            return Sent(layout, _put(memory), None)
    finally:
        os.close(descriptor)


def _put(memory: mmap.mmap) -> Any:
    import ray

    return ray.put(np.frombuffer(memory, np.uint8).copy())


def written(memory: mmap.mmap, folder: Path) -> Path:
    """The file with that content, written whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = (folder / f"{blake2b(memory, digest_size=16).hexdigest()}.site").resolve()
    if not path.is_file():
        unfinished, name = tempfile.mkstemp(dir=folder, suffix=".part")
        with open(unfinished, "wb") as file:
            file.write(memory)
        os.chmod(name, 0o644)
        os.replace(name, path)
    return path
