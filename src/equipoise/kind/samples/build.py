"""Builds a federation on labelled samples from its configuration: splits, partition, site, network and judge."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from equipoise.config.schema import Config
from equipoise.core.errors import DataError
from equipoise.data.splits import content_of, load_labelled, load_splits
from equipoise.evaluate.judge import SampleJudge
from equipoise.evaluate.predictions import Evaluator
from equipoise.kind.samples import require
from equipoise.kind.samples.site import SampleSite
from equipoise.kind.samples.teacher import first_broadcast
from equipoise.kind.site import Built
from equipoise.method.answers import Resolved
from equipoise.partition.allot import allot
from equipoise.partition.file import FileOptions, split_digest
from equipoise.partition.sample import owned

PERSONAL = "accuracy/personal/mean"
"""The headline where clients' own models are the result and their nodes keep a part of them."""


def build(config: Config, method: Resolved, data_path: Path | None) -> Built:
    loaded = load_splits(config.data, config.seed, data_path)
    splits, partition, own, local, notes = allot(config, loaded, data_path)
    n_classes = len(splits.classes)
    indices = [owned(own, len(splits.train))] if method.pools_data else own
    local = [np.concatenate(local)] if method.pools_data and len(local) else local
    site = SampleSite(config, method, splits.train, indices, n_classes, splits.inputs, local)
    model = site.network()
    require.parameters(method, model)
    require.phases(config, method, model)
    require.axis(config, method, model)
    require.sums(config, method, model)
    require.batches(site, model)
    require.room(site, model)
    if method.teacher is not None and len(splits.public) < 2:
        what = f"a public pool of {len(splits.public)} samples is too small to train a teacher on"
        raise DataError(what, where="data.public", fix="a larger data.public or data.limit")
    evaluator = Evaluator(model, site.common, splits, config, indices, has_local_tests=bool(len(local)))
    headline = PERSONAL if require.personal_stay(config, method, model) and method.predict is None else method.headline
    judge = SampleJudge(evaluator, method.predict, headline)
    return Built(partition, site, judge, model, notes, first_broadcast=partial(first_broadcast, site, splits))


def content(config: Config, data_path: Path | None) -> str:
    """Hash of the whole set, before limits."""
    return content_of(load_labelled(config.data, data_path)) + split_digest(config.partition, data_path)


def content_key(config: Config) -> str:
    key = config.data.model_dump_json(exclude={"limit", "test_limit", "validation", "public", "local_test"})
    return key + (config.partition.model_dump_json() if isinstance(config.partition, FileOptions) else "")
