"""What models see: features and logits on the splits, each asked for once per checkpoint.

Only the evaluator sees validation and test. Training images are looked at on the clients' behalf, for what they would
report of them, and by the probe: all clients', or those of who took part where clients are drawn when they are asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor, nn

from equipoise.config.schema import Config
from equipoise.core.streams import stream
from equipoise.core.values import ClientUpdate, Images, Indices, Pixels, State, n_bytes
from equipoise.data.splits import Splits
from equipoise.models.build import contiguous_copies
from equipoise.models.classifier import Classifier, Seen
from equipoise.models.filters import common_filters
from equipoise.models.look import Lens, Summary, look
from equipoise.partition.drawn import Drawn
from equipoise.server.predict import COMMON, ServerView

AT_LEAST = 16
"""Images of every client that are looked at, however few are drawn."""
FEW = 32
"""Images per pass of the common filters: their responses fit into the cache, which is twice as fast."""
N_NOISE = 64
"""Images without content, of uniform noise, that `iffi` compares with."""


@dataclass(frozen=True)
class Scorer:
    """A network to load states into, the splits, and which training images are whose."""

    model: Classifier
    splits: Splits
    config: Config
    indices: Sequence[Indices]
    common: dict[str, Seen] = field(default_factory=dict)
    """What the common filters see in each split: the same at every checkpoint."""

    @property
    def lens(self) -> Lens:
        return Lens(self.splits.mean, self.splits.std, self.config.evaluate.batch)

    def seen(self, state: State, pixels: Pixels) -> Seen:
        """Features [N, D] and logits [N, C] of a model with that state."""
        self.model.load_state_dict(dict(state))
        return look(self.model, pixels, self.lens)

    def filtered(self, pixels: Pixels) -> Seen:
        """Features of the filters that nobody trains; they have no logits."""
        filters = common_filters(3, self.config.seed)
        few = replace(self.lens, batch=FEW)
        batches = (batch.contiguous(memory_format=torch.channels_last) for batch in few.batches(pixels))
        features = torch.cat([filters(batch) for batch in batches])
        return Seen(features, features[:, :0])

    def reached(self, took_part: Iterable[int]) -> Sequence[int]:
        """The clients that can be asked something: all, or who took part where all would be too many to go through."""
        return sorted(took_part) if isinstance(self.indices, Drawn) else range(len(self.indices))

    def recalibrated(self, state: State, took_part: Iterable[int] = ()) -> State:
        """Every client measures BatchNorm statistics of the model on its own images; they are averaged by samples."""
        reached = (self.indices[client] for client in self.reached(took_part))
        measuring = [index for index in reached if len(index) > 1]  # one image has no variance
        if not measuring:
            return state
        total, result = sum(map(len, measuring)), {name: tensor.clone() for name, tensor in state.items()}
        statistics = statistics_of(state)
        for name in statistics:
            result[name].zero_()
        for index in measuring:
            measured = self._measured(state, self.splits.train.pixels[index])
            for name in statistics:
                result[name] += measured[name] * (len(index) / total)
        return result

    def _measured(self, state: State, pixels: Pixels) -> State:
        self.model.load_state_dict(dict(state))
        layers = [module for module in self.model.modules() if isinstance(module, nn.BatchNorm2d)]
        before = [layer.momentum for layer in layers]
        for layer in layers:
            layer.reset_running_stats()
            layer.momentum = None  # the plain mean over batches
        self.model.train()
        with torch.no_grad():
            for batch in self.lens.batches(pixels):
                self.model(batch)
        for layer, momentum in zip(layers, before, strict=True):
            layer.momentum = momentum
        return contiguous_copies(self.model.state_dict())


class PredictionCache:
    """One checkpoint's answers so far: a model that was asked for all images of a split is not asked again."""

    def __init__(self, scorer: Scorer, took_part: Iterable[int] = ()) -> None:
        splits, options, seed = scorer.splits, scorer.config.evaluate, scorer.config.seed
        drawn = stream(seed, "train-images").permutation(len(splits.train))[: options.train_images]
        self.reached = scorer.reached(took_part)
        rows = np.unique(np.concatenate([drawn, *(scorer.indices[client][:AT_LEAST] for client in self.reached)]))
        noise = stream(seed, "noise-images").integers(0, 256, (N_NOISE, *splits.test.pixels.shape[1:]), dtype=np.uint8)
        self.scorer = scorer
        self.images = {
            "validation": splits.validation,
            "test": splits.test,
            "train": splits.train.take(rows),
            "noise": Images(noise, np.zeros(N_NOISE, dtype=np.int64)),
        }
        self.own = {client: np.flatnonzero(np.isin(rows, scorer.indices[client])) for client in self.reached}
        self.bytes_up = self.bytes_down = 0
        """What clients have sent in answer to questions, and what they were sent to answer them."""
        self._known: dict[tuple[str, int], Seen] = {}
        self._recalibrated: dict[int, State] = {}
        self._kept: list[State] = []

    def at(self, split: str, state: State) -> Seen:
        if state is COMMON:
            if split not in self.scorer.common:
                self.scorer.common[split] = self.scorer.filtered(self.images[split].pixels)
            return self.scorer.common[split]
        key = split, id(state)
        if key not in self._known:
            self._known[key] = self.scorer.seen(state, self.images[split].pixels)
            self._kept.append(state)  # an id is free for another state once its owner is gone
        return self._known[key]

    def labels(self, split: str) -> Tensor:
        return torch.tensor(self.images[split].labels)

    def some(self, split: str, state: State, limit: int | None) -> tuple[Tensor, Tensor]:
        """Logits and labels of `limit` images of a split, drawn once for the run."""
        images = self.images[split]
        draw = stream(self.scorer.config.seed, "client-images", len(images))
        some = np.sort(draw.permutation(len(images))[:limit])
        known = self._known.get((split, id(state)))
        logits = self.scorer.seen(state, images.pixels[some]).logits if known is None else known.logits[some]
        return logits, torch.from_numpy(images.labels[some])

    def view(self, split: str, clients: Sequence[ClientUpdate] = ()) -> ServerView:
        """What a server can learn while it answers for a split; clients hold their own models already."""
        held = {client.client: client.model for client in clients}
        return ServerView(
            asked=lambda state: self.at(split, state),
            noise=lambda state: self.at("noise", state),
            ask=lambda client, states, summary: self._ask(client, states, summary, held.get(client)),
            recalibrated=self._recalibrate,
        )

    def _ask(self, client: int, states: Sequence[State], summary: Summary, held: State | None) -> State:
        rows = torch.from_numpy(self.own[client])
        seen = [self.at("train", state) for state in states]
        own = [Seen(one.features[rows], one.logits[rows]) for one in seen]
        report = summary(own, self.labels("train")[rows])
        self.bytes_up += n_bytes(report)
        self.bytes_down += sum(n_bytes(state) for state in states if state is not held)
        return report

    def _recalibrate(self, state: State) -> State:
        if id(state) not in self._recalibrated:
            self._recalibrated[id(state)] = self.scorer.recalibrated(state, self.reached)
            self._kept.append(state)
        self.bytes_down += len(self.reached) * n_bytes(state)
        self.bytes_up += len(self.reached) * n_bytes(statistics_of(state))
        return self._recalibrated[id(state)]


def statistics_of(state: State) -> State:
    """BatchNorm's running means and variances."""
    return {name: tensor for name, tensor in state.items() if name.endswith(("running_mean", "running_var"))}
