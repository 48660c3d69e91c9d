"""What the clients of a recommender's run have in common: settings, item features, and the steps of several clients.

`HistoryWork.steps` takes one batch of windows from each client and stacks them along a leading client axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from equipoise.client.feed import Steps
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.device import Device, device_of
from equipoise.memory.product import FeatureRows
from equipoise.memory.settings import MemoryOptions
from equipoise.models.settings import SasrecOptions
from equipoise.models.windows import Windows


class WindowFeed(Protocol):
    """A client's batches of windows, one epoch at a time."""

    @property
    def n_steps(self) -> int: ...

    @property
    def level(self) -> Tensor:
        """[2] running mean and deviation of the client's losses, on the device."""

    def steps(self, epoch: int) -> Iterator[Windows]: ...


@dataclass(frozen=True)
class HistoryWork:
    """How histories are cut into windows, and the item features by which memories compare items."""

    config: Config
    clock: Clock
    model: SasrecOptions
    n_masks: int
    """Dropout masks that the model needs in one pass."""
    features: FeatureRows | None = None
    """[V, d], all modalities side by side, rows of length 1; None for a model without experts."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """Columns of `features` that belong to each modality, in order."""
    memory: MemoryOptions | None = None
    """None: experts read the most recent items."""
    prototypes: int = 0
    """Cluster centres of its memory that a client reports; 0: it reports none."""
    negatives: int = 0
    """Items that a sampled loss draws; 0: the loss runs over the whole catalogue."""
    n_items: int = 0
    holds_rows: bool = False
    """Whether a client holds only those rows of the item table that its task uses."""

    @property
    def device(self) -> Device:
        return device_of(self.config.engine.device)

    def steps(self, feeds: Sequence[WindowFeed], epoch: int) -> Iterator[Steps]:
        """The steps of several clients side by side; the client with the most steps comes first."""
        going = [feed.steps(epoch) for feed in feeds]
        counts = np.array([feed.n_steps for feed in feeds])
        for step in range(counts.max()):
            n = int((counts > step).sum())
            windows = self.device.there(_stacked([next(feed) for feed in going[:n]]))
            levels = [feed.level for feed in feeds[:n]]
            progress = self.clock.progress(epoch, step / counts[:n])
            yield Steps(epoch * counts[:n] + step, progress, epoch, windows._replace(level=torch.stack(levels)))

    def input_statistics(self, batch: Windows) -> dict[str, Tensor]:
        """Windows have no input statistics to record."""
        return {}

    def dropout_masks(self, noise: torch.Generator) -> Tensor:
        """[P, W, T, D]: 1/(1 − dropout) where a number is kept, 0 where it is dropped; [0] without dropout."""
        model, size = self.model, self.config.client.batch
        if model.dropout == 0:
            return torch.empty(0)
        drawn = torch.rand(self.n_masks, size, model.length, model.width, generator=noise)
        return (drawn >= model.dropout) / (1 - model.dropout)


def _stacked(windows: Sequence[Windows]) -> Windows:
    """The windows of several clients along a leading axis; shorter lists of rows are padded to the longest."""
    return Windows(*(pad_sequence(list(part), batch_first=True) for part in zip(*windows, strict=True)))
