"""An encoder that sees each image and its mirror image alike.

f̄(x) = (f(x) + f(mirror x)) / 2
"""

from __future__ import annotations

from torch import Tensor, nn


class Mirrored(nn.Module):
    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, images: Tensor) -> Tensor:
        mean: Tensor = (self.encoder(images) + self.encoder(images.flip(3))) / 2
        return mean
