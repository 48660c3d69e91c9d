"""From stored samples to what a network takes. One class per kind of sample; images here.

A kind of labelled samples gives: `prepare`, two augmented views, samples without content, the shape that a network
sees, and its constants as JSON takes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.core.values import Samples
from equipoise.data.augment import normalise, two_views

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[Any]


class Inputs(Protocol):
    """How stored samples of one set enter a network."""

    def prepare(self, stored: Array | Tensor) -> Tensor:
        """What the network takes, [N, …] float32."""

    def two_views(self, stored: Array | Tensor, seed: int) -> Tensor:
        """Two augmented views of each sample, [2N, …]: first all first views, then all second ones."""

    def without_content(self, rng: np.random.Generator, n: int, like: Array) -> Array:
        """Stored samples that show nothing."""

    def shape(self, stored: Array) -> tuple[int, ...]:
        """Of one sample, as the network sees it."""

    def facts(self) -> Mapping[str, Any]:
        """The constants, from which `cls(**facts)` makes the same inputs on another machine."""


@dataclass(frozen=True)
class LabelledSet:
    """A named set of labelled samples, and how they enter a network."""

    name: str
    train: Samples
    test: Samples
    classes: tuple[str, ...]
    inputs: Inputs


@dataclass(frozen=True)
class Standardised:
    """The constants of inputs of which each channel or column is standardised."""

    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        """What comes back from JSON are lists."""
        object.__setattr__(self, "mean", tuple(self.mean))
        object.__setattr__(self, "std", tuple(self.std))

    def facts(self) -> Mapping[str, Any]:
        return asdict(self)


class PixelInputs(Standardised):
    """uint8 images of one or three channels, normalised per channel; one channel is repeated to three."""

    on_any_device = True
    """Bytes are copied to a device and prepared there; kinds without this are prepared on the CPU."""

    def prepare(self, stored: Array | Tensor) -> Tensor:
        import torch

        pixels = stored if isinstance(stored, torch.Tensor) else torch.tensor(stored)
        return normalise(pixels, self.mean, self.std)

    def two_views(self, stored: Array | Tensor, seed: int) -> Tensor:
        import torch

        return two_views(torch.as_tensor(stored), self.mean, self.std, seed)

    def without_content(self, rng: np.random.Generator, n: int, like: Array) -> Array:
        """Uniform noise."""
        return rng.integers(0, 256, (n, *like.shape[1:]), dtype=np.uint8)

    def shape(self, stored: Array) -> tuple[int, ...]:
        return (3, *stored.shape[2:])
