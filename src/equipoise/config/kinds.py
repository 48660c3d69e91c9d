"""Kinds of data in a configuration: the kind of a set, what fits it, and its defaults for omitted blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from equipoise.config.named import NAMED
from equipoise.config.traits import ANY_DATA, LABELS
from equipoise.core.errors import ConfigError, Problem
from equipoise.core.registry import DATASETS, KINDS

if TYPE_CHECKING:
    from equipoise.kind.record import Kind


def kind_of(dataset: str) -> Kind:
    """The kind of a data set: the one whose settings class the set's own settings extend."""
    options = DATASETS.find(dataset).options
    kinds: list[Kind] = [entry.make for entry in KINDS if issubclass(options, entry.make.options)]
    if not kinds:
        what = f"data '{dataset}' is of no known kind; its options extend none of"
        raise ConfigError([Problem("data", f"{what} {', '.join(entry.make.options.__name__ for entry in KINDS)}")])
    return kinds[0]


def fits_kind(key: str, name: str, kind: Kind) -> bool:
    """Whether that kind of data has everything a splitter, model or method needs."""
    traits = NAMED[key].find(name).traits
    offered = frozenset().union(*(entry.make.offers for entry in KINDS))
    needs = (traits & offered) or (frozenset() if ANY_DATA in traits else {LABELS})
    return needs <= kind.offers


def stand_ins(raw: Mapping[str, Any]) -> Mapping[str, str]:
    """The kind's default names for the blocks that a configuration leaves out."""
    data = raw.get("data", {})
    name = data if isinstance(data, str) else data.get("name") if isinstance(data, Mapping) else None
    try:
        return kind_of(str(name)).defaults if name else {}
    except ConfigError:
        return {}  # check reports it as a problem
