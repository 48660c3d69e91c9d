"""Makes the training recipe from a resolved method and the parts that a kind of data provides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

    from equipoise.client.feed import Feed, Work
    from equipoise.client.recipe import Recipe
    from equipoise.config.schema import Config
    from equipoise.core.values import Task
    from equipoise.method.answers import Resolved


def recipe_of(config: Config, method: Resolved, network: nn.Module, work: Work, feed: Callable[[Task], Feed]) -> Recipe:
    from equipoise.client.recipe import Recipe
    from equipoise.method.resolve import personal_weights

    return Recipe(
        config,
        network,
        method.objective,
        method.balance,
        work,
        feed,
        keeps_buffers=method.carries,
        report=method.exchange.report,
        keep=method.exchange.keep,
        phases=method.phases,
        personal=personal_weights(config, method, network),
    )
