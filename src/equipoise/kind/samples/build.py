"""Builds a federation on labelled samples from its configuration: splits, partition, site, network and judge."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from equipoise.config.blocks import ModelOptions
from equipoise.config.schema import Config
from equipoise.core.errors import DataError
from equipoise.data.inputs import Inputs, PixelInputs
from equipoise.data.splits import content_of, load_labelled, load_splits
from equipoise.evaluate.judge import SampleJudge
from equipoise.evaluate.predictions import Evaluator
from equipoise.kind.samples import require
from equipoise.kind.samples.site import SampleSite
from equipoise.kind.samples.teacher import first_broadcast
from equipoise.kind.site import Built
from equipoise.method.answers import Resolved
from equipoise.models.backbone_options import BackboneOptions
from equipoise.models.buckets import set_thresholds
from equipoise.models.patches import planned
from equipoise.models.settings import PatchesOptions
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
    splits = replace(splits, inputs=own_constants(config.model, splits.inputs))
    site = SampleSite(config, method, splits.train, indices, n_classes, splits.inputs, local)
    adds_up = method.exchange.sums is not None
    if adds_up and isinstance(config.model, PatchesOptions):  # too many take minutes to make
        require.sums(config, planned(config.model, site.shape).n_features)
    model = site.network()
    set_thresholds(model, site.shape)
    require.parameters(method, model)
    require.phases(config, method, model)
    require.axis(config, method, model)
    if adds_up:
        require.sums(config, getattr(model.head, "in_features", model.n_features))
    require.batches(site, model)
    require.room(site, model)
    if method.teacher is not None and len(splits.public) < 2:
        what = f"a public pool of {len(splits.public)} samples is too small to train a teacher on"
        raise DataError(what, where="data.public", fix="a larger data.public or data.limit")
    evaluator = Evaluator(model, site.common, splits, config, indices, has_local_tests=bool(len(local)))
    headline = PERSONAL if require.personal_stay(config, method, model) and method.predict is None else method.headline
    judge = SampleJudge(evaluator, method.predict, headline)
    return Built(partition, site, judge, model, notes, first_broadcast=partial(first_broadcast, site, splits))


def own_constants(model: ModelOptions, inputs: Inputs) -> Inputs:
    """Images normalised as the network expects them, if it says how; otherwise by the set's own constants."""
    if not isinstance(model, BackboneOptions) or model.mean is None or model.std is None:
        return inputs
    return PixelInputs(tuple(model.mean), tuple(model.std))


def content(config: Config, data_path: Path | None) -> str:
    """Hash of the whole set, before limits."""
    return content_of(load_labelled(config.data, data_path)) + split_digest(config.partition, data_path)


def content_key(config: Config) -> str:
    key = config.data.model_dump_json(exclude={"limit", "test_limit", "validation", "public", "local_test"})
    return key + (config.partition.model_dump_json() if isinstance(config.partition, FileOptions) else "")
