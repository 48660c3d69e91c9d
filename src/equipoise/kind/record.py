"""A kind of data: images, interactions, tabular rows. One record per kind holds everything specific to it.

To add a kind, write one file in this room that registers a `Kind`, and a reader in `data/` for its sets. Members that
need torch are import paths, `module:name`, loaded on first use: settings are checked and reports are read without it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from equipoise.config.blocks import DataOptions
from equipoise.config.choices import CommonFeatures
from equipoise.core.errors import PluginError


@dataclass(frozen=True, eq=False)
class Kind:
    name: str
    """The plural noun for messages: "images"."""
    options: type[DataOptions]
    """A data set is of this kind if its options extend these."""
    offers: frozenset[str]
    """What this kind offers to splitters, models and methods (see `config/traits`): labels, pixels, histories …"""
    defaults: Mapping[str, str]
    """Default partition, model and method."""
    aligned: str
    """A method for this kind that leaves λ to the balance block."""
    build: str
    """(config, method, data folder) → Built: partition, site, judge, model, notes."""
    site: str
    """The class of sites, with `of_shared(config, method, arrays, facts)`."""
    plain_loss: str
    """() → the objective of a method that adds nothing to the local task."""
    inputs: str
    """The class of `data.inputs.Inputs`; empty where samples have no label."""
    common_encoder: str
    """(shape, seed) → fixed features, the same for everyone, drawn from the run's seed; empty as above."""
    content: str
    """(config, data folder) → hash of the data, before limits."""
    content_key: str
    """(config) → a key that is equal for configurations whose data has the same hash, so that data is read once."""
    describe: str
    """(content of the set, options, published facts, data folder) → what `equipoise data check` reports."""
    show: str
    """(report) → nothing: prints such a report for people."""
    unpublished: str
    """A `data.known.Known` for sets without published facts: the user's own, or a plugin's."""
    figures: tuple[str, ...]
    """The report's figures, in their order: (source, words) → figures, as import paths."""
    patch_encoder: str = ""
    """(shape, seed) → patches of photographs as such features; empty where samples are no images."""
    unread: tuple[str, ...] = ()
    """Settings that have no effect for this kind of data."""

    def common(self, features: CommonFeatures) -> Any:
        """What makes the fixed features of that name."""
        return self.load("patch_encoder" if features == "patches" else "common_encoder")

    def load(self, member: str) -> Any:
        """The function or class behind a member, as in `kind.load("build")`."""
        path = getattr(self, member)
        try:
            return load_path(path)
        except (ImportError, AttributeError, ValueError) as error:
            what = f"{member} of kind '{self.name}' is declared at '{path}', which cannot be loaded: {error}"
            raise PluginError(what, where=path, fix="correct the path, `module:name`, in the record") from error


def load_path(path: str) -> Any:
    """What an import path, `module:name`, names."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def figures(names: str) -> tuple[str, ...]:
    """Import paths of the report's own figures, from their names."""
    return tuple(f"equipoise.report.figures.{name}:{name}" for name in names.split())
