"""Two networks side by side, from one start: one that is shared, one that stays with its client.

features, logits = those of the personal one        shared = what the shared one says of the same batch
"""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

from torch import Tensor, nn

from equipoise.models.classifier import Classifier, ModelOutput

SHARED, PERSONAL = "shared.", "personal."
"""Before the names of the weights of either."""


class TwinOutput(NamedTuple):
    features: Tensor
    logits: Tensor
    shared: ModelOutput


class Twin(Classifier):
    def __init__(self, model: Classifier) -> None:
        nn.Module.__init__(self)
        self.n_features = model.n_features
        self.shared, self.personal = model, deepcopy(model)

    def forward(self, images: Tensor) -> TwinOutput:  # type: ignore[override]
        own: ModelOutput = self.personal(images)
        return TwinOutput(own.features, own.logits, self.shared(images))

    @property
    def groups(self) -> dict[str, list[str]]:
        names = [name for name, _ in self.named_parameters()]
        return {prefix[:-1]: [name for name in names if name.startswith(prefix)] for prefix in (SHARED, PERSONAL)}


def personal(model: nn.Module) -> list[str]:
    """Weights and buffers of the personal one."""
    return [name for name in model.state_dict() if name.startswith(PERSONAL)]
