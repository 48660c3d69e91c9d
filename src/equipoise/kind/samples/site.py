"""The site of a federation on labelled samples: the training samples and their owners."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import nn

from equipoise.client.own import AT_LEAST, COMMON, OwnSamples
from equipoise.client.recipe import Recipe
from equipoise.client.samples import SampleFeed, SampleWork
from equipoise.client.together import ENOUGH, how_many, how_many_fit, multiply_adds
from equipoise.config.schema import Config
from equipoise.core.codec import unflatten
from equipoise.core.device import Device, device_of, devices
from equipoise.core.registry import SUMMARIES
from equipoise.core.streams import stream
from equipoise.core.values import Indices, Labels, Samples, State, Task
from equipoise.data.inputs import Inputs
from equipoise.data.splits import SampleNumbers
from equipoise.kind.recipe import recipe_of
from equipoise.kind.site import Arrays, Shared, ragged, unragged
from equipoise.method.answers import Resolved
from equipoise.method.resolve import personal_weights
from equipoise.models.build import build_model
from equipoise.models.classifier import Classifier
from equipoise.models.outputs import InputReader
from equipoise.partition.drawn import Drawn, DrawnOptions, drawn

KEPT = 64
"""Number of cached answers of the common encoder, which never change."""


@dataclass(frozen=True)
class SampleSite:
    config: Config
    method: Resolved
    train: Samples
    indices: Sequence[Indices]
    n_classes: int
    inputs: Inputs
    local_tests: Sequence[Indices] = ()
    """Each client's held-out local test samples; empty unless asked for."""
    whole: SampleNumbers | None = None
    """Where this machine holds a part of the training set: which samples those are."""

    @property
    def device(self) -> Device:
        return device_of(self.config.engine.device)

    @property
    def n_clients(self) -> int:
        return len(self.indices)

    @property
    def is_listed(self) -> bool:
        return not isinstance(self.indices, Drawn)

    def counts(self, client: int) -> Labels:
        return self.count(self.train.labels[self.indices[client]])

    def samples(self, client: int) -> int:
        return len(self.indices[client])

    def count(self, labels: Labels) -> Labels:
        return np.bincount(labels, minlength=self.n_classes)

    def is_idle(self, client: int, step: int) -> bool:
        return False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample as the network takes it."""
        return self.inputs.shape(self.train.inputs)

    def shared(self) -> Shared:
        samples: Arrays = {"inputs": self.train.inputs, "labels": self.train.labels}
        owned = ragged("owned", self.indices) if self.is_listed else {}
        local = ragged("local", self.local_tests) if len(self.local_tests) else {}
        part = {} if self.whole is None else {"numbers": self.whole.numbers}
        facts = {"n_classes": self.n_classes, "inputs": dict(self.inputs.facts())}
        return {**samples, **owned, **local, **part}, facts | ({} if self.whole is None else {"whole": self.whole.size})

    def only(self, clients: Collection[int]) -> SampleSite:
        """The site of a machine that holds these clients, and nobody else's samples."""
        nobody = np.empty(0, dtype=np.int64)
        owned = [self.indices[k] if k in clients else nobody for k in range(self.n_clients)]
        local = [part if k in clients else nobody for k, part in enumerate(self.local_tests)]
        kept = np.unique(np.concatenate([*owned, *local]))
        return replace(
            self,
            train=self.train.take(kept),
            indices=[np.searchsorted(kept, index) for index in owned],
            local_tests=[np.searchsorted(kept, index) for index in local],
            whole=SampleNumbers(kept, len(self.train)),
        )

    @classmethod
    def of_shared(cls, config: Config, method: Resolved, arrays: Arrays, facts: Mapping[str, Any]) -> SampleSite:
        samples, n_classes = Samples(arrays["inputs"], arrays["labels"]), facts["n_classes"]
        indices: Sequence[Indices]
        if "owned" in arrays:
            indices = unragged("owned", arrays)
        else:  # clients generated on demand: the rule defines them all
            assert isinstance(config.partition, DrawnOptions)
            indices = drawn(samples.labels, n_classes, config.partition, config.seed)
        inputs = config.kind.load("inputs")(**facts["inputs"])
        local = unragged("local", arrays) if "local" in arrays else ()
        whole = SampleNumbers(arrays["numbers"], facts["whole"]) if "numbers" in arrays else None
        return cls(config, method, samples, indices, n_classes, inputs, local, whole)

    def network(self) -> Classifier:
        """What clients train."""
        plain = self.plain_network()
        return plain if self.method.network is None else self.method.network(plain)

    def plain_network(self) -> Classifier:
        """The configured network, as it answers in the end."""
        return build_model(self.config.model, self.shape, self.n_classes, self.config.seed, self.method.head)

    @cached_property
    def together(self) -> int:
        """The configured number, or the number that the cost model chooses."""
        config = self.config
        if config.engine.together is not None:
            return config.engine.together
        cohort = max(1, round(config.server.fraction * self.n_clients))
        if not self.method.stacks or config.engine.compile or (self.device.is_cpu and cohort < ENOUGH):
            return 1
        network, image = self.network(), torch.zeros(1, *self.shape)
        if self.device.is_cpu:
            return how_many(network, image, self.batch, cohort)
        workers, on_each = self._workers
        return how_many_fit(network, image, self.batch, -(-cohort // workers), self.device.memory // on_each)

    @property
    def _workers(self) -> tuple[int, int]:
        """Workers that share a cohort, and those of them that share a device."""
        engine = self.config.engine
        if not hasattr(engine, "workers"):
            return 1, 1
        alike = [name for name in devices() if name.startswith(f"{self.device.name}:")]
        listed = getattr(engine, "devices", None) or alike
        workers = engine.workers or max(1, len(listed))
        return workers, -(-workers // max(1, len(listed)))

    @property
    def batch(self) -> int:
        """Samples that enter the network at a step."""
        return self.config.client.batch * (2 if self.config.client.augment == "two-view" else 1)

    def multiply_adds(self) -> int | None:
        return multiply_adds(self.network(), torch.zeros(1, *self.shape))

    def recipe(self) -> Recipe:
        config, method, exchange = self.config, self.method, self.method.exchange
        work, network = SampleWork(config, config.clock, self.train, self.inputs), self.network()

        personal = personal_weights(config, method, network)
        sent = [name for name in network.state_dict() if name not in personal]

        def feed(task: Task) -> SampleFeed:
            memory = task.own.memory
            if exchange.begin is not None and not memory:
                memory = exchange.begin({name: task.shared[name] for name in sent})
            return SampleFeed(work, task, self.indices[task.client], self.counts(task.client), memory)

        return recipe_of(config, method, network, work, feed)

    def answer(self, recipe: Recipe, task: Task) -> State:
        question = task.question
        assert question is not None
        key = question.summary, task.client
        if question.through == "common" and key in self._known:
            return self._known[key]
        summary = SUMMARIES.find(question.summary).make
        assert isinstance(recipe.model, Classifier)
        found: State = summary(self.own(recipe.model, task))
        if question.through == "common":
            self._known[key] = found
            while len(self._known) > KEPT:
                del self._known[next(iter(self._known))]
        return found

    def own(self, network: Classifier, task: Task) -> OwnSamples:
        """A client's own samples, with the outputs of the models that its task brings."""
        owned = self.indices[task.client]
        asked = np.union1d(owned[np.isin(owned, self._drawn)], owned[:AT_LEAST])
        reader = InputReader(self.inputs, self.config.evaluate.batch, self.device)
        samples, everything = self.train.take(asked), self.train.take(owned)
        counts = self.count(everything.labels)
        held_out = self.train.take(self.local_tests[task.client]) if len(self.local_tests) else None
        return OwnSamples(network, self.common, models_of(task), samples, everything, counts, reader, held_out)

    @cached_property
    def _drawn(self) -> Indices:
        """The rows of the training set that clients may summarise."""
        size = len(self.train) if self.whole is None else self.whole.size
        drawn = stream(self.config.seed, "train-images").permutation(size)[: self.config.evaluate.train_images]
        return drawn if self.whole is None else np.flatnonzero(np.isin(self.whole.numbers, drawn))

    @cached_property
    def common(self) -> nn.Module:
        """The encoder that nobody trains, on the device."""
        found: nn.Module = self.config.kind.common(self.config.server.common)(self.shape, self.config.seed)
        return found.to(self.device.torch_device)

    @cached_property
    def _known(self) -> dict[tuple[str, int], State]:
        return {}


def models_of(task: Task) -> list[State]:
    """The models whose outputs the question is about."""
    assert task.question is not None
    match task.question.through:
        case "own":
            return [task.own.model]
        case "merged":
            return [task.shared]
        case "common":
            return [COMMON]
        case "data":
            return []
        case "all":
            models = unflatten(task.shared)
            return [models[client] for client in sorted(models, key=int)]
