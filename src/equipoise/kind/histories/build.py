"""Builds a federation on users' histories from its configuration: split, site, network and judge."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

import numpy as np

from equipoise.client.groups import require_groups
from equipoise.config.blocks import InteractionOptions
from equipoise.config.schema import Config
from equipoise.core.registry import DATASETS
from equipoise.core.values import Event
from equipoise.data.held_out import Histories, hold_out
from equipoise.data.interactions import Features, Interactions, content_of
from equipoise.evaluate.candidates import shortage
from equipoise.evaluate.judge import Judge
from equipoise.evaluate.rank_judge import RankJudge
from equipoise.evaluate.recommender import ItemScorer
from equipoise.evaluate.slice_judge import SliceJudge
from equipoise.evaluate.table_scorer import table_scorer
from equipoise.evaluate.targets import held_out
from equipoise.features.check import GIVEN
from equipoise.features.load import item_features
from equipoise.kind.histories import require
from equipoise.kind.histories.site import HistorySite
from equipoise.kind.site import Built
from equipoise.method.answers import Resolved
from equipoise.models.build import build_tables
from equipoise.models.item_tables import ItemTables
from equipoise.models.recommender import Recommender, wanted
from equipoise.partition.users import users
from equipoise.server.item_settings import ItemSumsOptions


def build(config: Config, method: Resolved, data_path: Path | None) -> Built:
    options = config.data
    assert isinstance(options, InteractionOptions)
    require.pair(config)
    require.travelling_state(config)
    require.not_compiled(config)
    histories, features = load_histories(config, options, data_path)
    data = histories.interactions
    partition = users(data.items, data.bounds, data.n_items)
    everybody = np.arange(data.n_users)
    owned = [everybody] if method.pools_data else list(everybody[:, None])
    site = HistorySite(config, method, histories, {name: features[name] for name in wanted(config.model)}, owned)
    sends_sums = config.server.sums is not None or isinstance(method.for_kind, ItemSumsOptions)
    if sends_sums:
        require.sums(config, histories)
    known, digest = features if options.features in GIVEN else {}, content_of(data, features)
    model, judge = (_solved if isinstance(method.for_kind, ItemSumsOptions) else _trained)(site, known, digest)
    notes = notes_of(data, features) + (silent(histories) if sends_sums else ())
    return Built(partition, site, judge, model, notes)


def _solved(site: HistorySite, known: Mapping[str, Features], digest: str) -> tuple[ItemTables, Judge]:
    """The model of a method in closed form, and its judge."""
    config, options, histories = site.config, site.method.for_kind, site.histories
    data = histories.interactions
    validation = cache(partial(held_out, histories, "validation", config.seed))
    scorer = table_scorer(options, data, validation)
    return build_tables(config.model, data.n_items, config.seed), RankJudge(scorer, histories, known, config, digest)


def _trained(site: HistorySite, known: Mapping[str, Features], digest: str) -> tuple[Recommender, Judge]:
    """The network that clients train, and its judge."""
    config, method, histories = site.config, site.method, site.histories
    options, data = config.data, histories.interactions
    assert isinstance(options, InteractionOptions)
    model, work = site.parts()
    require_groups(config, model.groups)  # before what follows reads them
    require.global_memory(config, method, work)
    if work.negatives:
        require.unmet(site, data)
        require.shared_tables(config, model)
    ends = None if histories.slices is not None else histories.train_end
    is_merged = method.predict is not None and not config.server.personal
    item_scorer = ItemScorer(model, work, data, ends, is_merged)
    if histories.slices is not None:
        require.rounds(config, options)
        return model, SliceJudge(item_scorer, histories, config, digest, features=known)
    return model, RankJudge(item_scorer, histories, known, config, digest)


def content(config: Config, data_path: Path | None) -> str:
    """Hash of the interactions and of the features that the configuration names."""
    options = config.data
    assert isinstance(options, InteractionOptions)
    histories, features = load_histories(config, options, data_path)
    return content_of(histories.interactions, features)


def content_key(config: Config) -> str:
    """The control rows of features are drawn from the seed, so the key includes it."""
    options = config.data
    assert isinstance(options, InteractionOptions)
    return options.model_dump_json() + ("" if options.features in GIVEN else str(config.seed))


def load_histories(
    config: Config, options: InteractionOptions, data_path: Path | None
) -> tuple[Histories, dict[str, Features]]:
    """The split histories, and all given features: drift is measured for every model, with or without experts."""
    histories = hold_out(DATASETS.find(options.name, "data").make(options, data_path), options)
    features = item_features(options, histories.interactions, data_path, config.seed)
    require.features(config, features)
    return histories, features


def notes_of(data: Interactions, features: Mapping[str, Features]) -> tuple[Event, ...]:
    read = [Event("data-note", note) for note in (*data.notes, shortage(data)) if note]
    checks = [table.check for table in features.values() if table.check is not None]
    seen = [Event("feature-check", str(check), detail=check.as_record()) for check in checks]
    return (*read, *seen)


def silent(histories: Histories) -> tuple[Event, ...]:
    """A note on users whose training part is too short for a transition."""
    n = int((histories.train_end < 2).sum())
    text = f"{n} of {len(histories.train_end)} users have one item to learn from: they have nothing to send"
    return (Event("data-note", text),) if n else ()
