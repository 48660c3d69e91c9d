"""The outputs of a network on stored images in evaluation mode, and what a client may report of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from equipoise.core.values import Pixels, State
from equipoise.data.augment import normalise
from equipoise.models.classifier import Classifier, Seen

Summary = Callable[[Sequence[Seen], Tensor], State]
"""(outputs of each received model on a client's own images, their labels) → the tensors the client sends back."""


@dataclass(frozen=True)
class Lens:
    """How stored pixels become network input: normalisation constants, and images per pass."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    batch: int

    def batches(self, pixels: Pixels) -> Iterator[Tensor]:
        """Normalised batches. A single last image joins the batch before it, because BatchNorm needs more than one."""
        cuts = list(range(self.batch, len(pixels), self.batch))
        if cuts and self.batch > 1 and len(pixels) - cuts[-1] == 1:
            cuts.pop()
        for part in np.split(pixels, cuts):
            yield normalise(torch.tensor(part), self.mean, self.std)


def entering(images: Tensor, where: str) -> dict[str, float]:
    """Mean and deviation of the network's input; they should agree between training and evaluation."""
    return {f"input/mean/{where}": images.mean().item(), f"input/std/{where}": images.std().item()}


def look(model: Classifier, pixels: Pixels, lens: Lens) -> Seen:
    """Features [N, D] and logits [N, C]; the model is left in evaluation mode."""
    model.eval()
    with torch.inference_mode():
        parts: list[Seen] = [model(batch) for batch in lens.batches(pixels)]
    return Seen(torch.cat([part.features for part in parts]), torch.cat([part.logits for part in parts]))
