"""The precision of forward and backward passes: `engine.precision`.

fp32   single precision throughout, also inside convolutions
tf32   products of matrices and convolutions round their inputs to ten bits; cuda only
bf16   the forward pass under autocast; weights, losses, statistics and the optimiser stay in single precision
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from equipoise.core.device import Device, device_of
from equipoise.core.errors import ConfigError, Problem


def require_precision(precision: str, device: Device) -> None:
    """Refuse a precision that the device does not have."""
    if not has_precision(precision, device):
        what = f"{device.name} cannot compute in {precision}"
        raise ConfigError([Problem("engine.precision", what)], fix="engine.precision=fp32")


def has_precision(precision: str, device: Device) -> bool:
    if precision == "tf32":
        return device.kind == "cuda"
    return precision == "fp32" or _has_bf16(device)


def _has_bf16(device: Device) -> bool:
    """Whether autocast knows the type there, and a product of matrices of that type can be computed."""
    module = getattr(torch, device.kind, None)
    if device.kind == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return False
    try:
        is_known = torch.bfloat16 in getattr(module, "get_amp_supported_dtype", lambda: [torch.bfloat16])()
        ones = torch.ones(2, 2, device=device.torch_device, dtype=torch.bfloat16)
        return is_known and bool((ones @ ones).isfinite().all())
    except (RuntimeError, TypeError):
        return False


class Arithmetic(Protocol):
    """The settings of an engine that decide how it computes."""

    @property
    def device(self) -> str: ...
    @property
    def precision(self) -> str: ...
    @property
    def deterministic(self) -> bool: ...
    @property
    def threads(self) -> int: ...


def prepare(engine: Arithmetic) -> Device:
    """Set torch up for the whole process as an engine's settings say; returns the device."""
    device = device_of(engine.device)
    torch.set_num_threads(engine.threads)
    torch.use_deterministic_algorithms(engine.deterministic)
    if device.kind == "cuda":
        kind = "tf32" if engine.precision == "tf32" else "ieee"
        torch.backends.cuda.matmul.fp32_precision = kind
        torch.backends.cudnn.conv.fp32_precision = kind  # type: ignore[attr-defined]
    return device


def compiled(network: nn.Module) -> Callable[..., Any]:
    """The network's passes as torch.compile makes them, for one size of batch at a time. What was compiled is kept on
    disk, so that the next process, worker or run begins with it."""
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "equipoise" / "compiled"
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(kept))
    made: Callable[..., Any] = torch.compile(network, dynamic=False)
    return made


def in_precision(forward: Callable[..., Any], device: Device, precision: str) -> Callable[..., Any]:
    """The same function under autocast for bf16, with results in single precision; else the function itself."""
    if precision != "bf16":
        return forward

    def lower(*inputs: Any) -> Any:
        with torch.autocast(device.kind, dtype=torch.bfloat16):
            found = forward(*inputs)
        return tree_map(_single, found)

    return lower


def _single(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.is_floating_point() else value
