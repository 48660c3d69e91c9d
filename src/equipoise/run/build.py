"""Builds everything that a run needs from its configuration. The kind of data builds its own part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from equipoise.client.groups import Groups, require_groups, trained
from equipoise.config.schema import Config
from equipoise.core.clock import Clock
from equipoise.core.device import device_of
from equipoise.core.registry import ENGINES
from equipoise.core.values import ClientUpdate, Event, State
from equipoise.data.splits import load_splits
from equipoise.engine.engine import Engine
from equipoise.engine.roster import Roster
from equipoise.evaluate.judge import Judge
from equipoise.kind.site import Site, nothing
from equipoise.method.answers import Resolved
from equipoise.method.resolve import personal_weights, resolve
from equipoise.models.build import state_of
from equipoise.partition.divide import Partition
from equipoise.partition.machines import MachinesOptions
from equipoise.run.placed import placed
from equipoise.server.merge import ServerState


@dataclass(frozen=True)
class Federation:
    """A run before its first step. `start` is the model every client begins with.

    The server knows its clients only by the roster. The site is for engines, which send it to where clients run.
    """

    config: Config
    method: Resolved
    partition: Partition
    site: Site
    judge: Judge
    start: State
    groups: Groups
    notes: tuple[Event, ...] = ()
    """Notes of the data's reader."""
    first_broadcast: Callable[[State], State] = nothing
    personal: frozenset[str] = frozenset()
    """Weights and buffers that stay with their client."""

    @property
    def clock(self) -> Clock:
        return self.config.clock

    @cached_property
    def roster(self) -> Roster:
        return Roster(self.site.n_clients, self.site.counts, self.site.is_idle, self.site.is_listed)

    @property
    def n_clients(self) -> int:
        return self.roster.n_clients

    def merge(self, state: ServerState, updates: Sequence[ClientUpdate], step: int | None = None) -> ServerState:
        """Merge updates. Weights that were frozen at that step, or are personal, stay the same on the server."""
        after = self.method.merge(state, updates)
        moving = None if step is None else trained(self.config, self.groups, step)
        own = self.personal
        kept = [name for name in state.model if name in own or (moving is not None and name not in moving)]
        return replace(after, model={**after.model, **{name: state.model[name] for name in kept}}) if kept else after

    def sent_of(self, model: State) -> State:
        """The part of a model that clients send."""
        if self.carries or not self.personal:
            return model
        return {name: tensor for name, tensor in model.items() if name not in self.personal}

    @property
    def carries(self) -> bool:
        """Whether clients continue from their own models, because nothing is sent down."""
        return self.method.carries


def build(config: Config, data_path: Path | None = None) -> Federation:
    config = _asked(placed(config), data_path)
    method = resolve(config)
    built = config.kind.load("build")(config, method, data_path)
    require_groups(config, built.model.groups)
    start = device_of(config.engine.device).home(state_of(built.model))
    parts = (built.partition, built.site, built.judge, start, built.model.groups, built.notes, built.first_broadcast)
    return Federation(config, method, *parts, personal=personal_weights(config, method, built.model))


def _asked(config: Config, data_path: Path | None) -> Config:
    """The configuration with what machines told about data of their own, if the run is on such data."""
    partition = config.partition
    if not isinstance(partition, MachinesOptions) or partition.told:
        return config
    from equipoise.engine.flower.meet import met

    own = load_splits(config.data, config.seed, data_path)
    return met(config, own.classes, own.train.inputs.shape[1:])


def make_engine(site: Site) -> Engine:
    engine: Engine = ENGINES.find(site.config.engine.name).make(site)
    return engine
