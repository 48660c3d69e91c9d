"""Stored samples where they are used: in memory, or on the device.

    taken(rows) → stored inputs and labels of these rows, on the device

A device keeps all samples, pixels as bytes, if they take less than a quarter of its memory; then no image is copied
during training. Otherwise the rows of each batch are copied from pinned memory. Samples of a kind that cannot be
prepared on every device are prepared on the CPU before they are copied. On the CPU small sets are prepared once, so
that a step without augmented views takes only rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import torch
from torch import Tensor

from equipoise.core.device import Device
from equipoise.core.values import Samples
from equipoise.data.inputs import Inputs

SHARE = 4
"""Samples stay on the device if they take less than one part in so many of its memory."""
PREPARED = 2**27
"""Samples are prepared once on the CPU if they take at most so many bytes as the network takes them."""


@dataclass(frozen=True)
class StoredSamples:
    samples: Samples
    inputs: Inputs
    device: Device

    def prepared(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs as the network takes them, and labels, of rows [N]; their numbers are where `is_resident` says."""
        if self._ready is not None:
            return self._ready.index_select(0, rows), torch.from_numpy(self.samples.labels[rows.numpy()])
        stored, labels = self.taken(rows)
        return (stored if self._is_prepared else self.inputs.prepare(stored)), labels

    def two_views(self, rows: Tensor, seed: int) -> tuple[Tensor, Tensor]:
        """Two augmented views of each row, and the rows' labels."""
        stored, labels = self.taken(rows)
        return self.inputs.two_views(stored, seed), labels

    def taken(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        if self._resident is not None:
            inputs, labels = self._resident
            return inputs[rows], labels[rows]
        found = self.samples.take(rows.numpy())
        inputs = self.inputs.prepare(found.inputs) if self._is_prepared else torch.from_numpy(found.inputs)
        return self.device.there((inputs, torch.from_numpy(found.labels)))

    @property
    def is_resident(self) -> bool:
        """Whether rows are taken on the device; otherwise their numbers are needed on the CPU."""
        return self._resident is not None

    @cached_property
    def _ready(self) -> Tensor | None:
        """All inputs as a network takes them, in memory; None if they are too large, or trained on elsewhere."""
        n, shape = len(self.samples), self.inputs.shape(self.samples.inputs)
        if not self.device.is_cpu or 4 * n * prod(shape) > PREPARED:
            return None
        return self.inputs.prepare(self.samples.inputs)

    @property
    def _is_prepared(self) -> bool:
        return not self.device.is_cpu and not getattr(self.inputs, "on_any_device", False)

    @cached_property
    def _resident(self) -> tuple[Tensor, Tensor] | None:
        """All inputs and labels on the device; None if they stay in memory."""
        if self.device.is_cpu or self.samples.inputs.nbytes > self.device.memory // SHARE:
            return None
        stored = self.samples.inputs
        inputs = self.inputs.prepare(stored) if self._is_prepared else torch.tensor(stored)
        return self.device.there((inputs, torch.tensor(self.samples.labels)))
