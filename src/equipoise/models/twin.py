"""Two networks side by side, from one start: one that is shared, one that stays with its client.

features, logits = those of the personal one        shared = what the shared one says of the same batch, in training

In evaluation the personal one answers alone.
"""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

from torch import Tensor, nn

from equipoise.core.values import State
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

    def forward(self, images: Tensor) -> ModelOutput | TwinOutput:  # type: ignore[override]
        own: ModelOutput = self.personal(images)
        return TwinOutput(own.features, own.logits, self.shared(images)) if self.training else own

    @property
    def groups(self) -> dict[str, list[str]]:
        names = [name for name, _ in self.named_parameters()]
        return {prefix[:-1]: [name for name in names if name.startswith(prefix)] for prefix in (SHARED, PERSONAL)}


def answering(state: State) -> State:
    """The weights of the network that answers: of two side by side the personal one, under its own names."""
    own = {name.removeprefix(PERSONAL): tensor for name, tensor in state.items() if name.startswith(PERSONAL)}
    return own or state


def personal(model: nn.Module) -> list[str]:
    """Weights and buffers of the personal one."""
    return [name for name in model.state_dict() if name.startswith(PERSONAL)]
