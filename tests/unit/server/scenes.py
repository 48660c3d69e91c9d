"""Scenes made of plain tensors: a state says what a model with it would see.

    asked.features, asked.logits          of the images that are to be classified
    noise.features                        of images without content
    own.features, own.logits              of everybody's training images, in one list

Who owns which of the training images is told to the scene; so a client's images are the same for every model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from equipoise.core.values import ClientState, ClientUpdate, State
from equipoise.models.classifier import ModelOutput
from equipoise.models.outputs import Summary
from equipoise.server.predict import COMMON, ServerView

Owners = Mapping[int, Sequence[int]]
RECALIBRATED = "recalibrated."
"""What a state would see after its BatchNorm statistics were measured anew stands under this prefix."""


def client(number: int, counts: Sequence[int], report: State | None = None, **parts: object) -> ClientUpdate:
    """An update with that many images of each class; `asked_logits=[[…]]` is the tensor asked.logits."""
    state = {name.replace("_", ".", 1): torch.as_tensor(value) for name, value in parts.items()}
    return ClientUpdate(number, sum(counts), state, ClientState(state, report=report or {}), {}, list(counts))


def view(labels: Sequence[int] = (), owners: Owners | None = None, common: State | None = None) -> ServerView:
    """`labels` are those of all training images, `owners` the rows of each client, `common` what nobody trains."""
    rows = {number: torch.tensor(owned, dtype=torch.int64) for number, owned in (owners or {}).items()}

    def at(state: State, where: str) -> ModelOutput:
        known: State = (common or {}) if state is COMMON else state
        features, logits = known.get(f"{where}.features"), known.get(f"{where}.logits")
        if features is None:
            assert logits is not None, f"this state was not to be asked for {where}"
            features = logits[:, :0]
        return ModelOutput(features, features[:, :0] if logits is None else logits)

    def ask(number: int, states: Sequence[State], summary: Summary) -> State:
        own = rows[number]
        seen = [ModelOutput(one.features[own], one.logits[own]) for one in (at(state, "own") for state in states)]
        return summary(seen, torch.tensor(labels, dtype=torch.int64)[own])

    return ServerView(
        asked=lambda state: at(state, "asked"),
        noise=lambda state: at(state, "noise"),
        ask=ask,
        recalibrated=lambda state: {
            name.removeprefix(RECALIBRATED): tensor for name, tensor in state.items() if name.startswith(RECALIBRATED)
        },
    )


def flat(answers: Tensor) -> list[float]:
    return answers.flatten().tolist()
