"""What one message between a driver and a machine holds: a JSON header, and bodies of codec bytes by name.

Flower carries both: the header in a ConfigRecord, each body as one array of bytes. Nothing is pickled, and sizes are
checked before anything is decoded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from equipoise.core.errors import EngineError

if TYPE_CHECKING:
    from flwr.app import RecordDict

PROTOCOL = 1
HEADER, BODIES, KEY = "equipoise", "bodies", "header"
KIND = "equipoise.safetensors"
MOST_HEADER = 64 * 2**20
MOST_BODY = 2**31 - 2**20
"""Bytes of one header and of one body; Flower carries messages below 2 GiB."""


@dataclass(frozen=True)
class Parcel:
    header: Mapping[str, Any]
    bodies: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        return len(json.dumps(self.header)) + sum(len(body) for body in self.bodies.values())


def packed(parcel: Parcel) -> RecordDict:
    from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

    for name, body in parcel.bodies.items():
        if len(body) > MOST_BODY:
            what = f"'{name}' has {len(body) / 2**30:.2f} GiB, and one message carries less than 2"
            raise EngineError(what, where="engine flower", fix="a smaller model, or engine.compress=fp16")
    bodies = {name: Array("uint8", (len(body),), KIND, body) for name, body in parcel.bodies.items()}
    header = ConfigRecord({KEY: json.dumps(parcel.header)})
    return RecordDict({HEADER: header, BODIES: ArrayRecord(bodies)})


def unpacked(content: RecordDict) -> Parcel:
    """The parcel in a message, or an EngineError: whatever came from the network is checked."""
    try:
        text = content.config_records[HEADER][KEY]
        arrays = dict(content.array_records[BODIES])
    except (KeyError, TypeError) as error:
        raise EngineError("a message is not one of ours: it lacks our header", where="engine flower") from error
    if not isinstance(text, str) or len(text) > MOST_HEADER:
        raise EngineError("a message has a header that is no text, or too long", where="engine flower")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EngineError(f"the header of a message is not JSON: {error}", where="engine flower") from error
    if not isinstance(header, dict):
        raise EngineError("the header of a message is not an object", where="engine flower")
    for name, array in arrays.items():
        if array.stype != KIND or len(array.data) > MOST_BODY:
            what = f"body '{name}' of a message is '{array.stype[:40]}', not bytes of ours"
            raise EngineError(what, where="engine flower")
    return Parcel(header, {str(name): array.data for name, array in arrays.items()})
