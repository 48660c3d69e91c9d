"""The blocks of a configuration: those whose settings depend on a name, and those that are always the same."""

from __future__ import annotations

from typing import Any

from equipoise.config.blocks import ClientOptions, EvaluateOptions, ScenarioOptions, ServerOptions
from equipoise.config.track import TrackOptions
from equipoise.core.options import Options
from equipoise.core.registry import AGGREGATES, BALANCES, DATASETS, ENGINES, METHODS, MODELS, SPLITTERS, Registry

NAMED: dict[str, Registry[Any]] = {
    "method": METHODS,
    "balance": BALANCES,
    "data": DATASETS,
    "partition": SPLITTERS,
    "model": MODELS,
    "engine": ENGINES,
}
"""Blocks whose settings depend on their name; `data=x` is short for `data.name=x`."""

AGGREGATE = "server.aggregate"
NESTED: dict[str, Registry[Any]] = {AGGREGATE: AGGREGATES}
"""Named blocks inside another block; they may be left out."""

PLAIN: dict[str, type[Options]] = {
    "client": ClientOptions,
    "server": ServerOptions,
    "evaluate": EvaluateOptions,
    "scenario": ScenarioOptions,
    "track": TrackOptions,
}
