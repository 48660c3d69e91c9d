"""From a configuration to everything a run needs: data, partition, method, models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from torch import nn

from equipoise.client.groups import Groups, personal, require_groups, trained
from equipoise.client.histories import HistoryWork
from equipoise.config.blocks import InteractionOptions
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.errors import ConfigError, DataError
from equipoise.core.registry import DATASETS, ENGINES
from equipoise.core.values import ClientUpdate, Event, State
from equipoise.data.feature_check import GIVEN
from equipoise.data.features import item_features
from equipoise.data.held_out import Histories, hold_out
from equipoise.data.interactions import MODALITIES, Features, Interactions, content_of
from equipoise.data.splits import load_splits
from equipoise.engine.engine import Engine, Site, carries, clock_of, method_of
from equipoise.engine.history_site import HistorySite
from equipoise.engine.image_site import ImageSite
from equipoise.engine.together import stacks
from equipoise.evaluate.candidates import shortage
from equipoise.evaluate.judge import ImageJudge, Judge
from equipoise.evaluate.looks import Scorer
from equipoise.evaluate.rank_judge import RankJudge
from equipoise.evaluate.recommender import Shop
from equipoise.evaluate.slice_judge import SliceJudge
from equipoise.method.answers import Method
from equipoise.models.build import build_model, state_of
from equipoise.models.recommender import Recommender, wanted
from equipoise.partition.divide import Partition, divide
from equipoise.partition.sample import counted, owned
from equipoise.partition.users import users
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
    splits = load_splits(config.data, config.seed, data_path)
    n_classes = len(splits.classes)
    partition = divide(splits.train.labels, n_classes, config.partition, config.seed)
    method = method_of(config)
    indices = [owned(partition.indices, len(splits.train))] if method.pools_data else partition.indices
    site = ImageSite(config, splits.train, indices, n_classes, splits.mean, splits.std)
    model = build_model(config.model, site.shape, n_classes, config.seed, method.head)
    _require_parameters(method, model)
    _require_axis(config, method, model)
    _require_batches(site, model)
    if method.teacher is not None and len(splits.public) < 2:
        what = f"a public pool of {len(splits.public)} images is too small to train a teacher on"
        raise DataError(what, where="data.public", fix="a larger data.public or data.limit")
    judge = ImageJudge(Scorer(model, splits, config, indices), method.predict, method.headline)
    require_groups(config, model.groups)
    return Federation(config, clock_of(config), method, partition, site, judge, state_of(model), model.groups)


def build_recommendation(config: Config, options: InteractionOptions, data_path: Path | None) -> Federation:
    _require_pair(config)
    histories, features = load_histories(config, options, data_path)
    data, method = histories.interactions, method_of(config)
    partition = users(data.items, data.bounds, data.n_items)
    everybody = np.arange(data.n_users)
    owned = [everybody] if method.pools_data else list(everybody[:, None])
    site = HistorySite(config, histories, {name: features[name] for name in wanted(config.model)}, owned)
    model, work = site.parts()
    require_groups(config, model.groups)
    _require_global_memory(config, method, work)
    if work.negatives:
        _require_unmet(site, data)
        _require_shared_tables(config, model)
    ends = None if histories.slices is not None else histories.train_end
    is_merged = method.predict is not None and not config.server.personal
    shop, content = Shop(model, work, data, ends, is_merged), content_of(data, features)
    known = features if options.features in GIVEN else {}
    judge: Judge
    if histories.slices is not None:
        _require_rounds(config, options)
        judge = SliceJudge(shop, histories, config, content, features=known)
    else:
        judge = RankJudge(shop, histories, known, config, content)
    start, notes = state_of(model), notes_of(data, features)
    return Federation(config, clock_of(config), method, partition, site, judge, start, model.groups, notes)


def load_histories(
    config: Config, options: InteractionOptions, data_path: Path | None
) -> tuple[Histories, dict[str, Features]]:
    """The split histories, and all features that are given: whose interest changed is asked of every model alike."""
    histories = hold_out(DATASETS.find(options.name, "data").make(options, data_path), options)
    features = item_features(options, histories.interactions, data_path, config.seed)
    _require_features(config, features)
    return histories, features


def _require_global_memory(config: Config, method: Method, work: HistoryWork) -> None:
    """Its rows are told by dynamic memories, and read in the rounds after."""
    if method.prototypes and (work.memory is None or config.is_one_shot):
        why = "a one-shot run sends nothing back" if config.is_one_shot else "no client has a dynamic memory to tell of"
        fix = "set method.common=0, or communication=rounds with model=dmmr and method.memory=dynamic"
        raise ConfigError(f"a global memory needs dynamic memories and rounds: {why}", where="method.common", fix=fix)


def _require_shared_tables(config: Config, model: Recommender) -> None:
    kept = sorted(personal(config, model.groups) & set(model.tables))
    if kept:
        what = f"with a sampled loss a client holds the rows it touches, and {', '.join(kept)} would be its own"
        fix = "take 'items' out of server.personal, or set method.loss=unmet"
        raise ConfigError(what, where="server.personal", fix=fix)


def _require_unmet(site: HistorySite, data: Interactions) -> None:
    """A sampled loss compares with what a user never met."""
    last = site.config.steps - 1
    full = [user for user in range(data.n_users) if len(np.unique(site.history(user, last).items)) == data.n_items]
    if full:
        what = f"{len(full)} of {data.n_users} users met all {data.n_items} items (the first: {data.user_ids[full[0]]})"
        fix = "set method.loss=unmet or method.loss=softmax, which draw nothing"
        raise DataError(f"{what}: a sampled loss has nothing to compare with", where="method.loss", fix=fix)


def _require_rounds(config: Config, options: InteractionOptions) -> None:
    """In a stream every slice but the last is trained on, for as many rounds as any other."""
    if config.evaluate.patience is not None:
        what = "a stream has no validation score that could stop improving"
        raise ConfigError(what, where="evaluate.patience", fix="set evaluate.patience=null")
    if config.is_one_shot or config.steps % (options.slices - 1):
        what = f"{options.slices} slices need rounds in a multiple of {options.slices - 1}, got {config.steps}"
        nearest = max(1, round(config.steps / (options.slices - 1))) * (options.slices - 1)
        raise ConfigError(what, where="rounds", fix=f"set rounds={nearest}, or data.slices")


def _require_features(config: Config, features: Mapping[str, Features]) -> None:
    missing = [name for name in wanted(config.model) if name not in features]
    if missing:
        keys = ", ".join(f"data.{name}" for name in missing)
        what = f"the experts of model '{config.model.name}' need features that were not given: {', '.join(missing)}"
        others = "model.experts to what there is, or model=sasrec, both with balance=none"
        raise ConfigError(what, where=keys, fix=f"set {keys} to a table, or {others}")


def _require_pair(config: Config) -> None:
    """Experts are aligned with each other: one alone, or none, has nothing for λ to weigh."""
    if config.balance.name != "none" and len(wanted(config.model)) < len(MODALITIES):
        what = f"balance '{config.balance.name}' weighs how two experts agree, and this model does not have two"
        raise ConfigError(what, where="balance", fix="set balance=none, or model=dmmr with model.experts=both")


def notes_of(data: Interactions, features: Mapping[str, Features]) -> tuple[Event, ...]:
    read = [Event("data-note", note) for note in (*data.notes, shortage(data)) if note]
    checks = [table.check for table in features.values() if table.check is not None]
    seen = [Event("feature-check", str(check), detail=check.as_record()) for check in checks]
    return (*read, *seen)


def _require_parameters(method: Method, model: nn.Module) -> None:
    """A model of fixed filters under a fixed head leaves nothing to train."""
    if method.trains and not any(parameter.requires_grad for parameter in model.parameters()):
        what = "this method and this model together have nothing to train"
        raise ConfigError(what, where="model", fix="choose another model, or method=statistics")


def _require_axis(config: Config, method: Method, model: nn.Module) -> None:
    """Clients that are asked to train along one axis must be able to."""
    if (config.engine.together or 1) > 1 and not (stacks(model) and method.maps):
        what = f"clients of {config.method.name} with {config.model.name} cannot train along one axis"
        fix = "leave it out; BatchNorm, dropout and memories of the past keep clients apart"
        raise ConfigError(what, where="engine.together", fix=fix)


def _require_batches(site: ImageSite, model: nn.Module) -> None:
    """BatchNorm has nothing to normalise over in a batch of one image."""
    smallest = min(site.config.client.batch, *(len(index) for index in counted(site.indices)))
    has_batch_norm = any(isinstance(module, nn.BatchNorm2d) for module in model.modules())
    if has_batch_norm and smallest == 1 and site.config.client.augment == "none":
        fix = "raise client.batch and partition.min_size to 2 or more, or set model.norm=group"
        raise ConfigError("BatchNorm cannot be trained on batches of one image", where="client.batch", fix=fix)


def make_engine(site: Site) -> Engine:
    engine: Engine = ENGINES.find(site.config.engine.name).make(site)
    return engine
