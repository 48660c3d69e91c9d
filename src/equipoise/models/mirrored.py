"""An encoder that looks at each image and at its mirror image.

    f̄(x) = (f(x) + f(mirror x)) / 2        views(x) = f(x), f(mirror x)

A linear head on f̄ gives the mean of its scores for both views. Sums are formed over both views, as over two samples.
"""

from __future__ import annotations

from torch import Tensor, nn


class Mirrored(nn.Module):
    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def views(self, images: Tensor) -> tuple[Tensor, Tensor]:
        return self.encoder(images), self.encoder(images.flip(3))

    def forward(self, images: Tensor) -> Tensor:
        first, second = self.views(images)
        return (first + second) / 2
