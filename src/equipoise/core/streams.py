"""Named random streams: every random choice has its own stream, so no draw depends on any other.

    stream(seed, purpose, …, client) = PCG64(blake2b("seed/purpose/…/client"))

Adding a client, a round or an evaluation changes no other stream, and every engine draws the same numbers.
"""

from __future__ import annotations

import hashlib

import numpy as np


def stream_seed(seed: int, purpose: str, *keys: int | str) -> int:
    """A 63-bit number for a named stream, for generators that are not numpy's (torch).

    >>> stream_seed(0, "batches", 3, 1) == stream_seed(0, "batches", 3, 1) != stream_seed(0, "batches", 3, 2)
    True
    """
    name = "/".join(str(key) for key in (seed, purpose, *keys))
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") >> 1


def stream(seed: int, purpose: str, *keys: int | str) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(stream_seed(seed, purpose, *keys)))
