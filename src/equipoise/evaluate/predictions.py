"""Models' outputs on the splits: features and logits, computed once per checkpoint.

Only the evaluator sees validation and test. It also sees training samples, for the probe: as many as
`evaluate.train_images` allows, with some from every client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from equipoise.client.own import AT_LEAST, COMMON
from equipoise.config.schema import Config
from equipoise.core.device import device_of
from equipoise.core.streams import stream
from equipoise.core.values import Indices, Samples, State
from equipoise.data.splits import Splits
from equipoise.models.classifier import Classifier, ModelOutput
from equipoise.models.outputs import InputReader, common_outputs, outputs_of
from equipoise.partition.drawn import Drawn
from equipoise.partition.machines import MachinesOptions
from equipoise.server.predict import ServerView

N_NOISE = 64
"""Number of noise samples that `iffi` compares with."""


@dataclass(frozen=True)
class Evaluator:
    """A network to load states into, the untrained common encoder, the splits, and the owners of training samples.

    Both networks are moved to the device that predicts.
    """

    model: Classifier
    common: nn.Module
    splits: Splits
    config: Config
    indices: Sequence[Indices]
    has_local_tests: bool = False
    """Whether every client holds out a local test set."""
    common_known: dict[str, ModelOutput] = field(default_factory=dict)
    """The common encoder's outputs on each split, the same at every checkpoint."""

    def __post_init__(self) -> None:
        for network in (self.model, self.common):
            network.to(self.reader.device.torch_device)

    @property
    def reader(self) -> InputReader:
        return InputReader(self.splits.inputs, self.config.evaluate.batch, device_of(self.config.engine.device))

    @property
    def has_training(self) -> bool:
        """Whether the clients' training samples are here, as in a simulation."""
        return not isinstance(self.config.partition, MachinesOptions)

    @cached_property
    def weights(self) -> frozenset[str]:
        """The names of all weights and buffers of the network."""
        return frozenset(self.model.state_dict())

    def is_whole(self, state: State) -> bool:
        """Whether a state has all weights; not if a client's node keeps the personal ones."""
        return state.keys() >= self.weights

    def outputs(self, state: State, stored: NDArray[Any]) -> ModelOutput:
        """Features [N, D] and logits [N, C] of a model with that state."""
        reader = self.reader
        reader.device.load(self.model, state)
        return outputs_of(self.model, stored, reader)

    def training_rows(self, took_part: Iterable[int]) -> Indices:
        """The training samples that the probe is fitted on: a random draw, and the first samples of every client. Where
        clients are generated on demand, only those that took part are included."""
        draw = stream(self.config.seed, "train-images").permutation(len(self.splits.train))
        known = sorted(took_part) if isinstance(self.indices, Drawn) else range(len(self.indices))
        first = (self.indices[client][:AT_LEAST] for client in known)
        return np.unique(np.concatenate([draw[: self.config.evaluate.train_images], *first]))


class PredictionCache:
    """Outputs of one checkpoint: each model runs over a split at most once."""

    def __init__(self, evaluator: Evaluator, took_part: Iterable[int] = ()) -> None:
        splits, seed = evaluator.splits, evaluator.config.seed
        rows = evaluator.training_rows(took_part)
        noise = splits.inputs.without_content(stream(seed, "noise-images"), N_NOISE, splits.test.inputs)
        self.evaluator = evaluator
        self.samples = {
            "validation": splits.validation,
            "test": splits.test,
            "train": splits.train.take(rows),
            "noise": Samples(noise, np.zeros(N_NOISE, dtype=np.int64)),
        }
        self._known: dict[tuple[str, int], ModelOutput] = {}
        self._kept: list[State] = []

    def at(self, split: str, state: State) -> ModelOutput:
        if state is COMMON:
            return self._common(split)
        key = split, id(state)
        if key not in self._known:
            self._known[key] = self.evaluator.outputs(state, self.samples[split].inputs)
            self._kept.append(state)  # keeps the state alive, so that no other one gets its id
        return self._known[key]

    def _common(self, split: str) -> ModelOutput:
        known, evaluator = self.evaluator.common_known, self.evaluator
        if split not in known:
            known[split] = common_outputs(evaluator.common, self.samples[split].inputs, evaluator.reader)
        return known[split]

    def labels(self, split: str) -> Tensor:
        return torch.tensor(self.samples[split].labels)

    def some(self, split: str, state: State, limit: int | None) -> tuple[Tensor, Tensor]:
        """Logits and labels of `limit` samples of a split, drawn once for the run."""
        samples = self.samples[split]
        draw = stream(self.evaluator.config.seed, "client-images", len(samples))
        some = np.sort(draw.permutation(len(samples))[:limit])
        known = self._known.get((split, id(state)))
        logits = self.evaluator.outputs(state, samples.inputs[some]).logits if known is None else known.logits[some]
        return logits, torch.from_numpy(samples.labels[some])

    def view(self, split: str, answers: Mapping[int, State]) -> ServerView:
        """What the server can see while it predicts a split."""
        return ServerView(
            outputs=lambda state: self.at(split, state),
            noise=lambda state: self.at("noise", state),
            answers=answers,
        )
