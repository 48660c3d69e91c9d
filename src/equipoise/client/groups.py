"""Which parameters are trained and merged: models declare groups, and configurations refer to groups by name.

    trained(step)   = the groups of the stage that the step falls in; all of them after the last stage
    in_phase(epoch) = the groups of the phase of a task that the epoch falls in; all of them where there are no phases
    personal        = groups that stay with their client: trained, never merged

Parameters that are not trained are frozen: clients do not change them, and the server keeps them to the last bit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, Problem
from equipoise.core.registry import suggestion

Groups = Mapping[str, Collection[str]]


@dataclass(frozen=True)
class Phase:
    """A span of epochs within every task in which only some of the model's groups are trained."""

    groups: tuple[str, ...]
    epochs: int | None = None
    """None: all remaining epochs."""


def require_groups(config: Config, groups: Groups) -> None:
    """Require that every group in the configuration exists and is not empty, and that every stage can finish."""
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


def in_phase(phases: Sequence[Phase], groups: Groups, place: int) -> frozenset[str] | None:
    """The parameters that are trained in an epoch of a task, counted from 0; None: all of them."""
    for phase in phases:
        if phase.epochs is None or place < phase.epochs:
            return _members(groups, phase.groups)
        place -= phase.epochs
    return None


def personal(config: Config, groups: Groups) -> frozenset[str]:
    """The parameters that stay with their client."""
    return _members(groups, config.server.personal)


def _members(groups: Groups, names: Iterable[str]) -> frozenset[str]:
    return frozenset(member for name in names for member in groups[name])
