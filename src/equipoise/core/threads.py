"""Restores torch's number of threads, which is a setting of the whole process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_threads() -> Iterator[None]:
    """A run sets torch's number of threads; on exit the caller's number is restored."""
    import torch

    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)
