"""Finds what a predictor reads, by recording its accesses while it predicts a few samples.

An exported model contains only what was read: for a gate, the clients and their answers; for a closed-form head, the
solved head instead of all clients' sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import torch
from torch import Tensor

from equipoise.client.own import COMMON
from equipoise.core.values import ClientState, ClientUpdate, State
from equipoise.deploy.predictor import ONCE, OTHER
from equipoise.models.classifier import ModelOutput
from equipoise.server.predict import Merged, Predict, ServerView


@dataclass
class Reads:
    """What has been read so far."""

    models: dict[str, State] = field(default_factory=dict)
    """Networks that were run, by name."""
    values: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    """Single tensors that were read, by group and name."""
    clients: bool = False
    """Whether the clients were iterated over."""
    common: bool = False
    noise: bool = False
    probabilities: Tensor = field(default_factory=lambda: torch.empty(0))
    paused: bool = False

    def note(self, group: str, name: str, tensor: Tensor) -> None:
        if not self.paused:
            self.values.setdefault(group, {})[name] = tensor

    def outside_models(self) -> dict[str, State]:
        """The tensors that are not part of a network that was run."""
        return {group: state for group, state in self.values.items() if group not in self.models}


class Watched(Mapping[str, Tensor]):
    """A state that records which of its tensors are read."""

    def __init__(self, group: str, state: State, reads: Reads) -> None:
        self.group, self.state, self.reads = group, state, reads

    def __getitem__(self, name: str) -> Tensor:
        tensor = self.state[name]
        self.reads.note(self.group, name, tensor)
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self.state)

    def __len__(self) -> int:
        return len(self.state)


class WatchedClients(Sequence[ClientUpdate]):
    """Clients that record that they are read."""

    def __init__(self, clients: Sequence[ClientUpdate], reads: Reads) -> None:
        self.clients, self.reads = [_watched(client, reads) for client in clients], reads

    @overload
    def __getitem__(self, place: int) -> ClientUpdate: ...

    @overload
    def __getitem__(self, place: slice) -> list[ClientUpdate]: ...

    def __getitem__(self, place: int | slice) -> ClientUpdate | list[ClientUpdate]:
        self.reads.clients |= not self.reads.paused
        return self.clients[place]

    def __len__(self) -> int:
        return len(self.clients)


def _watched(client: ClientUpdate, reads: Reads) -> ClientUpdate:
    number = client.client
    own = ClientState(report=Watched(f"report-{number}", client.own.report, reads))
    return replace(client, model=Watched(f"client-{number}", client.model, reads), own=own, metrics={})


def trace(predict: Predict, view: ServerView, merged: Merged) -> Reads:
    """Predict with that view, and return what was read."""
    reads = Reads()
    answers = {client: Watched(f"answer-{client}", answer, reads) for client, answer in view.answers.items()}
    asked = Asked(view, reads)
    watched = ServerView(asked.outputs, asked.noise, answers, asked.once)
    broadcast = Watched("broadcast", merged.broadcast, reads)
    with torch.no_grad():
        model, clients = Watched("merged", merged.model, reads), WatchedClients(merged.clients, reads)
        reads.probabilities = predict(watched, Merged(model, clients, broadcast))
    return reads


@dataclass
class Asked:
    """The functions of a view, with every call recorded."""

    view: ServerView
    reads: Reads
    made: dict[int, tuple[str, Any]] = field(default_factory=dict)
    """States that `once` computed: id → name and state."""

    def outputs(self, state: State) -> ModelOutput:
        return self.view.outputs(self._asked(state))

    def noise(self, state: State) -> ModelOutput:
        self.reads.noise |= not self.reads.paused
        return self.view.noise(self._asked(state))

    def _asked(self, state: State) -> State:
        found = state.state if isinstance(state, Watched) else state
        if self.reads.paused:
            return found
        if state is COMMON:
            self.reads.common = True
        elif isinstance(state, Watched):
            self.reads.models[state.group] = found
        else:
            self.reads.models.setdefault(self.made.get(id(state), (OTHER,))[0], found)
        return found

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        self.reads.paused, before = True, self.reads.paused
        found = make()
        self.reads.paused = before
        if isinstance(found, Tensor):
            self.reads.note(ONCE, name, found)
            return found
        self.made[id(found)] = f"{ONCE}-{name}", found
        for key, tensor in found.items():
            self.reads.note(f"{ONCE}-{name}", key, tensor)
        return found
