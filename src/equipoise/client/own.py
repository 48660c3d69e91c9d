"""A client's own samples, seen through models: all that it says of them is made from this.

Summary: OwnSamples → the tensors that the client sends
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import torch
from torch import Tensor, nn

from equipoise.core.values import Labels, Samples, State
from equipoise.models.classifier import Classifier, ModelOutput
from equipoise.models.outputs import InputReader, common_outputs, outputs_of

COMMON: State = MappingProxyType({})
"""Stands for the common encoder among models: nobody trains it, everybody draws it alike from the run's seed."""
AT_LEAST = 16
"""Samples of every client that are summarised, however few `evaluate.train_images` allows."""


@dataclass(frozen=True)
class OwnSamples:
    network: Classifier
    """Takes the weights of each model in turn."""
    common: nn.Module | None
    models: Sequence[State]
    samples: Samples
    """Those that are summarised: all, or as many as `evaluate.train_images` allows."""
    everything: Samples
    class_counts: Labels
    """How many of all samples are of each class."""
    reader: InputReader
    held_out: Samples | None = None
    """What the client holds out for a test of its own."""

    @cached_property
    def outputs(self) -> list[ModelOutput]:
        """What each model says of the summarised samples."""
        return [self._through(model) for model in self.models]

    @property
    def labels(self) -> Tensor:
        return torch.tensor(self.samples.labels)

    @property
    def counts(self) -> Tensor:
        return torch.tensor(self.class_counts)

    def _through(self, model: State) -> ModelOutput:
        if model is COMMON:
            assert self.common is not None, "this kind of data has no common encoder"
            return common_outputs(self.common, self.samples.inputs, self.reader.inputs)
        self.network.load_state_dict(dict(model))
        return outputs_of(self.network, self.samples.inputs, self.reader)


Summary = Callable[[OwnSamples], State]
