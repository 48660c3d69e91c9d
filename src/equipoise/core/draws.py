"""Dropout on every device from torch's CPU generator, so that a run elsewhere differs by rounding only.

    mask ~ Bernoulli(1 − p) / (1 − p), drawn on the CPU and copied        out = x·mask

A network with dropout trains alone on its axis. Its forward pass asks this mode for dropout instead of the device; the
numbers that are drawn are those that the CPU's own dropout draws. Other noise is the network's own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from equipoise.core.device import Device

WHOLE_CHANNELS = (F.dropout1d, F.dropout2d, F.dropout3d)


def drawn_on_cpu(forward: Callable[..., Any], network: nn.Module, device: Device) -> Callable[..., Any]:
    """The same function with dropout masks from the CPU; on the CPU, or without dropout, the function itself."""
    if device.is_cpu or not any(isinstance(module, nn.modules.dropout._DropoutNd) for module in network.modules()):
        return forward

    def drawing(*inputs: Any) -> Any:
        with _CpuDropout(device):
            return forward(*inputs)

    return drawing


class _CpuDropout(TorchFunctionMode):
    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device

    def __torch_function__(
        self, func: Any, types: Sequence[Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is F.dropout or func in WHOLE_CHANNELS:
            return self._dropped(func in WHOLE_CHANNELS, *args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _dropped(
        self, by_channel: bool, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        if p == 0 or not training:
            return x
        if by_channel:
            mask = torch.empty(*x.shape[:2], *[1] * (x.ndim - 2), dtype=x.dtype)
        else:
            mask = torch.empty_like(x, device="cpu")  # in the layout of x: the CPU draws in that order
        mask.bernoulli_(1 - p)
        there = self.device.there(mask if p == 1 else mask.div_(1 - p))
        return x.mul_(there) if inplace else x * there
