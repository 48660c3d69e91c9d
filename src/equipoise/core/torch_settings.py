"""Restores the settings of torch that hold for the whole process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_torch_settings() -> Iterator[None]:
    """A run sets torch's threads and whether kernels are deterministic; on exit the caller's settings are restored."""
    import torch

    threads, is_deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(is_deterministic)
