"""The module `torch.sim`: controls for tests, and what torch expects of the module of a device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

Where = int | str | torch.device | None
"""A device; None for the current one."""

COUNTERS = ("ops", "waits", "draws", "to_host", "to_device", "bytes_to_host", "bytes_to_device")

_ops = torch.ops.sim_device
Stream, Event = torch.Stream, torch.Event


def _index(device: Where = None) -> int:
    if isinstance(device, int):
        return device
    index = None if device is None else torch.device(device).index
    return current_device() if index is None else index


# --- controls for tests


def counts(device: Where = None) -> dict[str, int]:
    """What happened so far on one device, or on all.

    ops: kernels that were started, copies among them; views cost nothing and are not counted.
    waits: how often the host waited for the device: item(), cpu(), bool(), nonzero(), synchronize(), and copies to the
    device that block, as all do that are not from pinned memory.
    draws: operations that drew random numbers from a generator of the device.
    to_host, to_device: copies, and bytes_to_host, bytes_to_device their sizes. The number that item() reads is a wait,
    not a copy.
    """
    devices = range(device_count()) if device is None else [_index(device)]
    return dict(zip(COUNTERS, map(sum, zip(*map(_ops.counts, devices), strict=True)), strict=True))


@contextmanager
def counting(device: Where = None) -> Iterator[dict[str, int]]:
    """The dictionary is filled at the end of the block, with what happened inside."""
    before, found = counts(device), {}
    yield found
    found |= {name: value - before[name] for name, value in counts(device).items()}


@contextmanager
def kernels() -> Iterator[dict[str, int]]:
    """Filled at the end of the block with the kernels that a real device must have, and how often each was started."""
    found: dict[str, int] = {}
    _ops.record_kernels(True)
    try:
        yield found
    finally:
        found |= _ops.record_kernels(False)


@contextmanager
def limited(n_bytes: int, device: Where = None) -> Iterator[None]:
    """Within the block the device has this much memory: beyond it, torch.OutOfMemoryError."""
    before = _ops.limit(_index(device), n_bytes)
    try:
        yield
    finally:
        _ops.limit(_index(device), before)


@contextmanager
def lacking(*dtypes: torch.dtype) -> Iterator[None]:
    """Within the block the devices do not support these types, as mps does not support float64: TypeError."""
    before = {dtype: _ops.set_missing(dtype, True) for dtype in dtypes}
    try:
        yield
    finally:
        for dtype, is_missing in before.items():
            _ops.set_missing(dtype, is_missing)


def lose(device: Where, after: int = 0) -> None:
    """The device disappears after so many more operations: then all it is asked for raises RuntimeError."""
    _ops.lose(_index(device), after)


def restore(device: Where) -> None:
    """A lost device is back, with the tensors that it held."""
    _ops.lose(_index(device), 2**63 - 1)


# --- devices, memory and types


class device(torch.accelerator.device_index):
    """Makes a device the current one within a block."""

    def __init__(self, which: Where) -> None:
        super().__init__(_index(which))


def is_available() -> bool:
    return device_count() > 0


def is_initialized() -> bool:
    return _ops.is_started()


def _is_in_bad_fork() -> bool:
    return _ops.is_forked()


def _lazy_init() -> None:
    """Nothing to do: the device starts with its first tensor."""


def device_count() -> int:
    return _ops.device_count()  # torch.accelerator.device_count() would ask this function


def current_device() -> int:
    return torch.accelerator.current_device_index()


def set_device(device: Where) -> None:
    torch.accelerator.set_device_index(_index(device))


def synchronize(device: Where = None) -> None:
    torch.accelerator.synchronize(_index(device))


def current_stream(device: Where = None) -> torch.Stream:
    return torch.accelerator.current_stream(_index(device))


def memory_allocated(device: Where = None) -> int:
    return torch.accelerator.memory_allocated(_index(device))


def max_memory_allocated(device: Where = None) -> int:
    return torch.accelerator.max_memory_allocated(_index(device))


def reset_peak_memory_stats(device: Where = None) -> None:
    torch.accelerator.reset_peak_memory_stats(_index(device))


def mem_get_info(device: Where = None) -> tuple[int, int]:
    return torch.accelerator.get_memory_info(_index(device))


def empty_cache() -> None:
    torch.accelerator.empty_cache()


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.bfloat16, torch.float16]


# --- random numbers


def manual_seed(seed: int) -> None:
    _ops.seed(current_device(), _signed(seed))


def manual_seed_all(seed: int) -> None:
    for index in range(device_count()):
        _ops.seed(index, _signed(seed))


def _signed(seed: int) -> int:
    """The same 64 bits as operators of torch take them."""
    return seed if seed < 2**63 else seed - 2**64


def get_rng_state(device: Where = None) -> torch.Tensor:
    return _ops.rng_state(_index(device))


def set_rng_state(state: torch.Tensor, device: Where = None) -> None:
    _ops.set_rng_state(_index(device), state)
