"""Numbers that are recorded or multiply a loss: floats, or tensors that the host does not wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    Number = float | Tensor
    """One number; a tensor if it was computed on the device."""


def precise(tensor: Tensor) -> Tensor:
    """In double precision on the CPU; in single precision on a device, which may not have the other."""
    return tensor.double() if tensor.device.type == "cpu" else tensor.float()


def times(number: Number, loss: Tensor) -> Tensor:
    """number·loss in the precision of the loss."""
    return number * loss if isinstance(number, int | float) else number.to(loss.dtype) * loss
