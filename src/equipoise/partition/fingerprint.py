"""The fingerprint of a partition: equal for equal index maps, on every machine.

    sha256("equipoise/partition/1" ‖ K ‖ n_1 … n_K ‖ indices of client 1 ‖ … ‖ of client K), little-endian int64

Client order matters: client 3 of one run is client 3 of the other. Source: ours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from equipoise.core.values import Indices

PREFIX = b"equipoise/partition/1"


def fingerprint(indices: Sequence[Indices]) -> str:
    """64 hexadecimal digits.

    >>> fingerprint([np.array([0]), np.array([1])]) == fingerprint([np.array([1]), np.array([0])])
    False
    """
    sizes = [len(index) for index in indices]
    digest = hashlib.sha256(PREFIX)
    for part in ([len(indices)], sizes, np.concatenate([np.empty(0, np.int64), *indices])):
        digest.update(np.asarray(part, dtype="<i8").tobytes())
    return digest.hexdigest()
