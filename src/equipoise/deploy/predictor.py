"""A trained model as one PyTorch module: stored samples in, probabilities out, normalisation included.

The source of this file goes into the `model.py` that `equipoise export --to torch` writes, so it needs only torch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from equipoise.client.own import COMMON
from equipoise.core.values import ClientState, ClientUpdate, State
from equipoise.models.classifier import ModelOutput
from equipoise.server.predict import Merged, Once, Outputs, Predict, ServerView

ANSWER = "answer-"
"""Prefix of the group of a client's answers."""
OTHER = "other"
"""The network for states that a predictor computes at each call."""
ONCE = "once"
"""Results that depend on the clients alone, computed at export."""


@dataclass(frozen=True)
class Makers:
    """How to make the parts of a predictor; weights are loaded into them afterwards."""

    network: Callable[[], nn.Module]
    head: Callable[[], nn.Module] | None
    """Replaces the network's own head."""
    common: Callable[[], nn.Module] | None
    """The untrained common encoder."""
    prepare: Callable[[Tensor], Tensor]
    """Stored samples → inputs of the network."""
    predict: Predict


class Tensors(nn.Module):
    """Named tensors that are not parameters; they move with the module that holds them."""

    def __init__(self, state: State) -> None:
        super().__init__()
        for name, tensor in state.items():
            self.register_buffer(name.replace(".", ":"), tensor)


class Predictor(nn.Module):
    """`model(samples)` gives the probabilities [N, C] of stored samples, as `card["input"]` describes them.

    `models` holds the networks, `values` everything else that the prediction reads: prototypes, means, answers.
    """

    def __init__(self, card: Mapping[str, Any], makers: Makers, values: Mapping[str, State]) -> None:
        super().__init__()
        self.card, self.classes = card, tuple(card["classes"])
        self.prepare, self.predict = makers.prepare, makers.predict
        network = _network(makers)
        self.models = nn.ModuleDict({name: copy.deepcopy(network) for name in card["models"]})
        self.values = nn.ModuleDict({group: Tensors(state) for group, state in values.items()})
        self.common = None if makers.common is None else makers.common()

    def forward(self, samples: Tensor) -> Tensor:
        with torch.device(samples.device):  # new tensors are created on the samples' device
            states: dict[str, State] = {group: _state(tensors) for group, tensors in self.values.items()}
            states |= {name: dict(model.state_dict(keep_vars=True)) for name, model in self.models.items()}
            names = {id(states[name]): name for name in self.models}
            outputs, noise = self._outputs(names, samples), self._noise(names, states)
            answers = {int(group.removeprefix(ANSWER)): states[group] for group in states if group.startswith(ANSWER)}
            clients = [_update(about, states) for about in self.card["clients"]]
            merged = Merged(states.get("merged", {}), clients, states.get("broadcast", {}))
            return self.predict(ServerView(outputs, noise, answers, _once(states)), merged)

    def _outputs(self, names: Mapping[int, str], samples: Tensor) -> Outputs:
        """Models' outputs on the samples; each model runs once."""
        prepared = self.prepare(samples)
        known: dict[int, tuple[State, ModelOutput]] = {}

        def outputs(state: State) -> ModelOutput:
            if id(state) not in known:  # keeps the state alive, so that no other one gets its id
                known[id(state)] = state, self._through(names.get(id(state), OTHER), state, prepared)
            return known[id(state)][1]

        return outputs

    def _through(self, name: str, state: State, prepared: Tensor) -> ModelOutput:
        if state is COMMON:
            assert self.common is not None
            features = self.common(prepared)
            return ModelOutput(features, features[:, :0])
        if name == OTHER:
            return ModelOutput(*torch.func.functional_call(self.models[OTHER], dict(state), (prepared,)))
        return ModelOutput(*self.models[name](prepared))

    def _noise(self, names: Mapping[int, str], states: Mapping[str, State]) -> Outputs:
        """Models' outputs on noise samples."""

        def outputs(state: State) -> ModelOutput:
            return self._outputs(names, states["noise"]["samples"])(state)

        return outputs


def _network(makers: Makers) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        network = makers.network()
        if makers.head is not None:
            network.head = makers.head()
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def _state(tensors: nn.Module) -> State:
    return {name.replace(":", "."): tensor for name, tensor in tensors.named_buffers()}


def _once(states: Mapping[str, State]) -> Once:
    def once(name: str, make: Callable[[], Any]) -> Any:
        if name in states.get(ONCE, {}):
            return states[ONCE][name]
        return states[f"{ONCE}-{name}"] if f"{ONCE}-{name}" in states else make()

    return once


def _update(about: Mapping[str, Any], states: Mapping[str, State]) -> ClientUpdate:
    """A client as the server knows it."""
    client, samples, counts = about["client"], about["samples"], about["counts"]
    own = ClientState(report=states.get(f"report-{client}", {}))
    return ClientUpdate(client, samples, states.get(f"client-{client}", {}), own, {}, counts)


def assemble(card: Mapping[str, Any], tensors: State, makers: Makers) -> Predictor:
    """The predictor of a card and its weights, in evaluation mode."""
    values: dict[str, dict[str, Tensor]] = {}
    for path, tensor in tensors.items():
        if path.startswith("values."):
            _, group, name = path.split(".", 2)
            values.setdefault(group, {})[name] = tensor
    model = Predictor(card, makers, values)
    model.load_state_dict(dict(tensors))
    return model.eval()
