"""From a configuration to everything a run needs: data, partition, method, models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from torch import nn

from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.errors import ConfigError, DataError
from equipoise.core.registry import ENGINES
from equipoise.core.values import ClientUpdate, State
from equipoise.data.splits import load_splits
from equipoise.engine.engine import Engine, Site, clock_of, method_of
from equipoise.evaluate.looks import Scorer
from equipoise.method.answers import Method
from equipoise.models.build import build_model, state_of
from equipoise.partition.divide import Partition, divide
from equipoise.server.merge import ServerState


@dataclass(frozen=True)
class Federation:
    """A run before its first step. `start` is the model every client begins with."""

    config: Config
    clock: Clock
    method: Method
    partition: Partition
    site: Site
    scorer: Scorer
    start: State

    @property
    def n_clients(self) -> int:
        return len(self.site.indices)

    def merge(self, state: ServerState, updates: Sequence[ClientUpdate]) -> ServerState:
        assert self.method.merge is not None, "method_of fills in what a method leaves open"
        return self.method.merge(state, updates)

    @property
    def carries(self) -> bool:
        """Whether clients go on from their own model, because nothing is sent down to them."""
        return self.config.is_one_shot or not self.method.sends_down


def build(config: Config, data_path: Path | None = None) -> Federation:
    splits = load_splits(config.data, config.seed, data_path)
    n_classes = len(splits.classes)
    partition = divide(splits.train.labels, n_classes, config.partition, config.seed)
    method = method_of(config)
    indices = [np.unique(np.concatenate(partition.indices))] if method.pools_data else partition.indices
    site = Site(config, splits.train, indices, n_classes, splits.mean, splits.std)
    model = build_model(config.model, site.shape, n_classes, config.seed, method.head)
    _require_parameters(method, model)
    _require_batches(site, model)
    if method.teacher is not None and len(splits.public) < 2:
        what = f"a public pool of {len(splits.public)} images is too small to train a teacher on"
        raise DataError(what, where="data.public", fix="a larger data.public or data.limit")
    scorer = Scorer(model, splits, config, indices)
    return Federation(config, clock_of(config), method, partition, site, scorer, state_of(model))


def _require_parameters(method: Method, model: nn.Module) -> None:
    """A model of fixed filters under a fixed head leaves nothing to train."""
    if method.trains and not any(parameter.requires_grad for parameter in model.parameters()):
        what = "this method and this model together have nothing to train"
        raise ConfigError(what, where="model", fix="choose another model, or method=statistics")


def _require_batches(site: Site, model: nn.Module) -> None:
    """BatchNorm has nothing to normalise over in a batch of one image."""
    smallest = min(site.config.client.batch, *(len(index) for index in site.indices))
    has_batch_norm = any(isinstance(module, nn.BatchNorm2d) for module in model.modules())
    if has_batch_norm and smallest == 1 and site.config.client.augment == "none":
        fix = "raise client.batch and partition.min_size to 2 or more, or set model.norm=group"
        raise ConfigError("BatchNorm cannot be trained on batches of one image", where="client.batch", fix=fix)


def make_engine(site: Site) -> Engine:
    engine: Engine = ENGINES.find(site.config.engine.name).make(site)
    return engine
