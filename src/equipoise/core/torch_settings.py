"""Restores the settings of torch that hold for the whole process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_torch_settings() -> Iterator[None]:
    """A run sets torch's threads, deterministic kernels and TF32; on exit the caller's settings are restored."""
    import torch

    threads, is_deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    rounding = [torch.backends.cuda.matmul, torch.backends.cudnn.conv] if torch.cuda.is_available() else []  # type: ignore[attr-defined]
    precisions = [each.fp32_precision for each in rounding]
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(is_deterministic)
        for each, precision in zip(rounding, precisions, strict=True):
            each.fp32_precision = precision
