"""What a network says of stored samples, in evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from equipoise.core.device import Device
from equipoise.data.inputs import Inputs
from equipoise.models.classifier import Classifier, ModelOutput


@dataclass(frozen=True)
class InputReader:
    """Stored samples as batches that a network takes."""

    inputs: Inputs
    batch: int
    device: Device = field(default_factory=Device)
    """Where the network is."""

    def batches(self, stored: NDArray[Any]) -> Iterator[Tensor]:
        """Batches on the device. A last sample on its own joins the batch before it: BatchNorm cannot be measured on
        one."""
        cuts = list(range(self.batch, len(stored), self.batch))
        if cuts and self.batch > 1 and len(stored) - cuts[-1] == 1:
            cuts.pop()
        for part in np.split(stored, cuts):
            yield self._prepared(part)

    def _prepared(self, stored: NDArray[Any]) -> Tensor:
        if getattr(self.inputs, "on_any_device", False):
            return self.inputs.prepare(self.device.there(torch.tensor(stored)))
        return self.device.there(self.inputs.prepare(stored))


def input_statistics(prepared: Tensor, where: str) -> dict[str, float]:
    """Mean and deviation of what enters the network; training and evaluation should not differ."""
    return {f"input/mean/{where}": prepared.mean().item(), f"input/std/{where}": prepared.std().item()}


def outputs_of(model: Classifier, stored: NDArray[Any], reader: InputReader) -> ModelOutput:
    """Features [N, D] and logits [N, C], on the CPU; the model is left in evaluation mode."""
    model.eval()
    with torch.inference_mode():
        parts: list[ModelOutput] = [model(batch) for batch in reader.batches(stored)]
    found = ModelOutput(torch.cat([part.features for part in parts]), torch.cat([part.logits for part in parts]))
    return reader.device.home(found)


FEW = 32
"""Samples per pass of the common encoder: responses of filters fit into the cache, which is twice as fast."""


def common_outputs(encoder: nn.Module, stored: NDArray[Any], reader: InputReader) -> ModelOutput:
    """Features, on the CPU, of an encoder that nobody trains; it has no logits."""
    few = replace(reader, batch=FEW) if reader.device.is_cpu else reader
    features = reader.device.home(torch.cat([encoder(_channels_last(batch)) for batch in few.batches(stored)]))
    return ModelOutput(features, features[:, :0])


def _channels_last(batch: Tensor) -> Tensor:
    return batch.contiguous(memory_format=torch.channels_last) if batch.ndim == 4 else batch
