"""What a configuration adds to a method: further terms of the local loss, another way to merge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from equipoise.config.blocks import AggregateOptions
from equipoise.config.traits import STACKS
from equipoise.core.errors import ConfigError
from equipoise.core.origin import require_shape
from equipoise.core.registry import AGGREGATES, TERMS
from equipoise.method.answers import Resolved, by_samples

if TYPE_CHECKING:
    from equipoise.config.schema import Config


def added(method: Resolved, config: Config) -> Resolved:
    """The method with the terms of `client.terms` and the merge of `server.aggregate`, if it can take them."""
    aggregate = config.server.aggregate
    with_all = _with_terms(method, config) if config.client.terms else method
    return with_all if aggregate is None else _with_merge(with_all, config.method.name, aggregate)


def _with_terms(method: Resolved, config: Config) -> Resolved:
    from equipoise.objective.compose import with_terms

    entries = [TERMS.find(name) for name in config.client.terms]
    objective = with_terms(method.objective, {entry.name: entry.make for entry in entries}, config.client.terms)
    if objective is None:
        what = f"method '{config.method.name}' cannot take the terms {', '.join(config.client.terms)}"
        why = "its loss is not made of terms, or has one of that name already"
        raise ConfigError(f"{what}: {why}", where="client.terms", fix="leave them out, or choose another method")
    stacks = method.stacks and all(STACKS in entry.traits for entry in entries)
    return replace(method, objective=objective, stacks=stacks)


def _with_merge(method: Resolved, name: str, options: AggregateOptions) -> Resolved:
    if method.merge is not by_samples():
        what = f"method '{name}' merges in its own way; '{options.name}' would do nothing"
        raise ConfigError(what, where="server.aggregate", fix="leave server.aggregate out")
    entry = AGGREGATES.find(options.name)
    merge = entry.make(options)
    require_shape(f"the merge of aggregate '{entry.name}'", merge, ("state", "updates"), entry.origin)
    return replace(method, merge=merge)
