"""A network that is never trained, merged or sent: its weights are constants.

Weights and statistics become buffers outside the state, so nobody sends what everybody can make from the same file. The
network stays in evaluation mode: BatchNorm uses the statistics of its file, and dropout drops nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from torch import nn


class Frozen(nn.Module):
    """The base of encoders with constants."""

    def train(self, mode: bool = True) -> Self:
        """Evaluation mode, whatever is asked for."""
        return super().train(False)


def freeze(network: nn.Module) -> nn.Module:
    """The same network with its weights and statistics as constants."""
    for module in network.eval().modules():
        for name, weight in [item for item in module._parameters.items() if item[1] is not None]:
            assert weight is not None
            del module._parameters[name]
            module.register_buffer(name, weight.detach(), persistent=False)
        module._non_persistent_buffers_set.update(module._buffers)
        if isinstance(module, nn.modules.batchnorm._NormBase):
            module.track_running_stats = False  # with True, loading a state asks for a counter that is not in it
    return network


def learning_modules(model: nn.Module) -> Iterator[nn.Module]:
    """All modules of a network but those inside a frozen part."""
    yield model
    for child in model.children():
        if not isinstance(child, Frozen):
            yield from learning_modules(child)
