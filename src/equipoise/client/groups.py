"""Which parameters take part: models declare groups, and a configuration names groups, never parts of names.

    trained(step) = the groups of the stage that the step falls in; all of them after the last stage
    personal      = groups that stay with their client: trained, never merged

What is not trained is frozen: the client does not move it, and the server keeps it to the last bit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, Problem
from equipoise.core.registry import suggestion

Groups = Mapping[str, Collection[str]]


def require_groups(config: Config, groups: Groups) -> None:
    """Every group that the configuration names exists and holds something, and every stage comes to its end."""
    asked = [(f"client.stages.{k}.groups", stage.groups) for k, stage in enumerate(config.client.stages)]
    asked.append(("server.personal", config.server.personal))
    problems = [
        Problem(key, f"the model has no group '{name}'{suggestion(name, list(groups))}")
        for key, names in asked
        for name in names
        if not groups.get(name)
    ]
    taken = sum(stage.rounds for stage in config.client.stages)
    if taken > config.steps:
        what = f"the stages take {taken} rounds and the run has {config.steps}: the last would not come to its end"
        problems.append(Problem("client.stages", what))
    if problems:
        raise ConfigError(problems)


def trained(config: Config, groups: Groups, step: int) -> frozenset[str] | None:
    """The parameters that are trained at a checkpoint; None: all of them."""
    first = 0
    for stage in config.client.stages:
        if first <= step < first + stage.rounds:
            return _members(groups, stage.groups)
        first += stage.rounds
    return None


def personal(config: Config, groups: Groups) -> frozenset[str]:
    """The parameters that stay with their client."""
    return _members(groups, config.server.personal)


def _members(groups: Groups, names: Iterable[str]) -> frozenset[str]:
    return frozenset(member for name in names for member in groups[name])
