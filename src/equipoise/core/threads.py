"""torch's threads, which are the whole process's: set for a while, then the caller's again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_threads() -> Iterator[None]:
    """A run sets how many threads torch has; afterwards the caller has as many as before."""
    import torch

    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)
