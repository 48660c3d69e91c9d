"""A client's own samples with models' outputs on them: every summary that the client sends is computed from this.

Summary: OwnSamples → the tensors that the client sends
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import torch
from torch import Tensor, nn

from equipoise.core.errors import NonFinite
from equipoise.core.values import Labels, Samples, State
from equipoise.models.classifier import Classifier, ModelOutput
from equipoise.models.outputs import InputReader, common_outputs, outputs_of

COMMON: State = MappingProxyType({})
"""Stands for the common encoder among models. It is not trained; everyone draws the same one from the run's seed."""
AT_LEAST = 16
"""Least number of samples that every client summarises, however few `evaluate.train_images` allows."""


@dataclass(frozen=True)
class OwnSamples:
    network: Classifier
    """A network that loads the weights of each model in turn."""
    common: nn.Module | None
    models: Sequence[State]
    samples: Samples
    """The samples to summarise: all, or as many as `evaluate.train_images` allows."""
    everything: Samples
    class_counts: Labels
    """Number of samples of each class, over all samples."""
    reader: InputReader
    held_out: Samples | None = None
    """The client's held-out local test samples."""

    @cached_property
    def outputs(self) -> list[ModelOutput]:
        """The outputs of each model on the summarised samples."""
        return [self._through(model) for model in self.models]

    @cached_property
    def common_features(self) -> Tensor:
        """The common encoder's features of the summarised samples."""
        return self._through(COMMON).features

    def pieces(self) -> Iterator[tuple[Tensor, Tensor]]:
        """The first model's features of everything, on its device, with labels, some samples at a time."""
        self.reader.device.load(self.network, self.models[0])
        encoder, labels, start = self.network.eval().encoder, torch.tensor(self.everything.labels), 0
        for batch in self.reader.batches(self.everything.inputs):
            with torch.inference_mode():
                features = encoder(batch)
            _require_finite(features)
            yield features, labels[start : start + len(batch)]
            start += len(batch)

    @property
    def labels(self) -> Tensor:
        return torch.tensor(self.samples.labels)

    @property
    def counts(self) -> Tensor:
        return torch.tensor(self.class_counts)

    def _through(self, model: State) -> ModelOutput:
        if model is COMMON:
            assert self.common is not None, "this kind of data has no common encoder"
            return common_outputs(self.common, self.samples.inputs, self.reader)
        self.reader.device.load(self.network, model)
        return outputs_of(self.network, self.samples.inputs, self.reader)


def _require_finite(features: Tensor) -> None:
    if not features.sum().isfinite() and not features.isfinite().all():
        bad = int((~features.isfinite()).any(1).sum())
        what = f"the encoder gives features that are not finite for {bad} of {len(features)} samples"
        raise NonFinite(what, where="model", fix="look at these samples, or choose another encoder")


Summary = Callable[[OwnSamples], State]
