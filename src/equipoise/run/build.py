"""From a configuration to everything a run needs: data, partition, method, models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from equipoise.client.groups import Groups, personal, require_groups, trained
from equipoise.config.blocks import InteractionOptions
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.errors import DataError
from equipoise.core.registry import DATASETS, ENGINES
from equipoise.core.values import ClientUpdate, Event, State
from equipoise.data.held_out import Histories, hold_out
from equipoise.data.interactions import Features, Interactions, content_of
from equipoise.data.splits import load_splits
from equipoise.engine.engine import Engine, Site, carries, clock_of, method_of
from equipoise.engine.history_site import HistorySite
from equipoise.engine.image_site import ImageSite
from equipoise.evaluate.candidates import shortage
from equipoise.evaluate.judge import ImageJudge, Judge
from equipoise.evaluate.predictions import Scorer
from equipoise.evaluate.rank_judge import RankJudge
from equipoise.evaluate.recommender import ItemScorer
from equipoise.evaluate.slice_judge import SliceJudge
from equipoise.features.check import GIVEN
from equipoise.features.load import item_features
from equipoise.method.answers import Method
from equipoise.models.build import build_model, state_of
from equipoise.models.recommender import wanted
from equipoise.partition.allot import allot
from equipoise.partition.divide import Partition
from equipoise.partition.sample import owned
from equipoise.partition.users import users
from equipoise.run import require
from equipoise.server.merge import ServerState


@dataclass(frozen=True)
class Federation:
    """A run before its first step. `start` is the model every client begins with."""

    config: Config
    clock: Clock
    method: Method
    partition: Partition
    site: Site
    judge: Judge
    start: State
    groups: Groups
    notes: tuple[Event, ...] = ()
    """What the data's reader had to say."""

    @property
    def n_clients(self) -> int:
        return self.site.n_clients

    @property
    def scorer(self) -> Scorer:
        """Of a federation of images."""
        assert isinstance(self.judge, ImageJudge)
        return self.judge.scorer

    def merge(self, state: ServerState, updates: Sequence[ClientUpdate], step: int | None = None) -> ServerState:
        """What the clients did not train at that step, and what stays with them, the server keeps to the last bit."""
        assert self.method.merge is not None, "method_of fills in what a method leaves open"
        after = self.method.merge(state, updates)
        moving = None if step is None else trained(self.config, self.groups, step)
        own = self.personal
        kept = [name for name in state.model if name in own or (moving is not None and name not in moving)]
        return replace(after, model={**after.model, **{name: state.model[name] for name in kept}}) if kept else after

    @property
    def personal(self) -> frozenset[str]:
        return personal(self.config, self.groups)

    @property
    def carries(self) -> bool:
        """Whether clients go on from their own model, because nothing is sent down to them."""
        return carries(self.config, self.method)


def build(config: Config, data_path: Path | None = None) -> Federation:
    if isinstance(config.data, InteractionOptions):
        return build_recommendation(config, config.data, data_path)
    return build_images(config, data_path)


def build_images(config: Config, data_path: Path | None) -> Federation:
    splits, partition, own, _, notes = allot(config, load_splits(config.data, config.seed, data_path), data_path)
    n_classes = len(splits.classes)
    method = method_of(config)
    indices = [owned(own, len(splits.train))] if method.pools_data else own
    site = ImageSite(config, splits.train, indices, n_classes, splits.mean, splits.std)
    model = build_model(config.model, site.shape, n_classes, config.seed, method.head)
    require.parameters(method, model)
    require.axis(config, method, model)
    require.batches(site, model)
    if method.teacher is not None and len(splits.public) < 2:
        what = f"a public pool of {len(splits.public)} images is too small to train a teacher on"
        raise DataError(what, where="data.public", fix="a larger data.public or data.limit")
    judge = ImageJudge(Scorer(model, splits, config, indices), method.predict, method.headline)
    require_groups(config, model.groups)
    return Federation(config, clock_of(config), method, partition, site, judge, state_of(model), model.groups, notes)


def build_recommendation(config: Config, options: InteractionOptions, data_path: Path | None) -> Federation:
    require.pair(config)
    histories, features = load_histories(config, options, data_path)
    data, method = histories.interactions, method_of(config)
    partition = users(data.items, data.bounds, data.n_items)
    everybody = np.arange(data.n_users)
    owned = [everybody] if method.pools_data else list(everybody[:, None])
    site = HistorySite(config, histories, {name: features[name] for name in wanted(config.model)}, owned)
    model, work = site.parts()
    require_groups(config, model.groups)
    require.global_memory(config, method, work)
    if work.negatives:
        require.unmet(site, data)
        require.shared_tables(config, model)
    ends = None if histories.slices is not None else histories.train_end
    is_merged = method.predict is not None and not config.server.personal
    item_scorer, content = ItemScorer(model, work, data, ends, is_merged), content_of(data, features)
    known = features if options.features in GIVEN else {}
    judge: Judge
    if histories.slices is not None:
        require.rounds(config, options)
        judge = SliceJudge(item_scorer, histories, config, content, features=known)
    else:
        judge = RankJudge(item_scorer, histories, known, config, content)
    start, notes = state_of(model), notes_of(data, features)
    return Federation(config, clock_of(config), method, partition, site, judge, start, model.groups, notes)


def load_histories(
    config: Config, options: InteractionOptions, data_path: Path | None
) -> tuple[Histories, dict[str, Features]]:
    """The split histories, and all features that are given: whose interest changed is asked of every model alike."""
    histories = hold_out(DATASETS.find(options.name, "data").make(options, data_path), options)
    features = item_features(options, histories.interactions, data_path, config.seed)
    require.features(config, features)
    return histories, features


def notes_of(data: Interactions, features: Mapping[str, Features]) -> tuple[Event, ...]:
    read = [Event("data-note", note) for note in (*data.notes, shortage(data)) if note]
    checks = [table.check for table in features.values() if table.check is not None]
    seen = [Event("feature-check", str(check), detail=check.as_record()) for check in checks]
    return (*read, *seen)


def make_engine(site: Site) -> Engine:
    engine: Engine = ENGINES.find(site.config.engine.name).make(site)
    return engine
