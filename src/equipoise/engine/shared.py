"""A site in shared memory: every worker maps the same unlinked file, so the data is in memory once.

The file has no name, so it disappears when the last process that has it open ends, in whatever way.
"""

from __future__ import annotations

import json
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.engine.node import Node
from equipoise.engine.slab import anonymous_file
from equipoise.kind.site import Site


def share(site: Site) -> tuple[int, bytes]:
    """(file descriptor to pass on, message that describes the layout)."""
    arrays, facts = site.shared()
    places: dict[str, Any] = {}
    descriptor = anonymous_file(sum(array.nbytes for array in arrays.values()))
    with open(descriptor, "wb", closefd=False) as file:
        for name, array in arrays.items():
            file.write(b"\0" * (-file.tell() % 64))
            places[name] = [file.tell(), array.dtype.str, list(array.shape)]
            file.write(np.ascontiguousarray(array).data)
    header = {"descriptor": descriptor, "places": places, "config": site.config.model_dump(), "facts": facts}
    return descriptor, json.dumps(header).encode()


def open_node(message: bytes, device: str) -> Node:
    """A node for the site that `share` described, on a device, in a process that inherited the descriptor."""
    memory = mmap.mmap(json.loads(message)["descriptor"], 0, access=mmap.ACCESS_READ)
    return node_in(memory, message, device)


def node_in(memory: mmap.mmap | NDArray[Any], message: bytes, device: str) -> Node:
    """A node for the site that `share` described, wherever its bytes are now."""
    header = json.loads(message)
    header["config"]["engine"]["device"] = device

    def array(offset: int, dtype: str, shape: list[int]) -> NDArray[Any]:
        return np.frombuffer(memory, dtype, int(np.prod(shape)), offset).reshape(shape)

    arrays = {name: array(*place) for name, place in header["places"].items()}
    return Node.open(header["config"], arrays, header["facts"])
