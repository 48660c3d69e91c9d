"""Every way to predict answers with probabilities, whatever the order of the clients, and leaves its inputs alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.core.exchanges import needs_second_exchange
from equipoise.core.registry import PREDICTS
from equipoise.core.values import State
from equipoise.models.classifier import ModelOutput
from equipoise.models.heads import ANCHORS, PROTOTYPES
from equipoise.server.predict import COMMON, Merged, ServerView
from tests.conftest import untouched_rng
from tests.unit.server.scenes import RECALIBRATED, client, view

C, D, N = 4, 3, 9
LABELS = [0, 0, 1, 2, 2, 2, 3, 0, 1, 1, 3, 3]
# client 7 has one image, client 4 one class
OWNERS = {2: [0, 1, 2, 3, 6, 8, 9, 10], 4: [4, 5], 7: [7], 9: [11]}
NAMES = PREDICTS.names()


@pytest.fixture
def situation() -> tuple[ServerView, Merged]:
    draw = torch.Generator().manual_seed(11)

    def random(*shape: int) -> torch.Tensor:
        return 3 * torch.randn(*shape, generator=draw)

    def parts() -> dict[str, torch.Tensor]:
        made = {}
        for where, n in (("asked", N), ("own", len(LABELS)), ("noise", 5)):
            made |= {f"{where}_features": random(n, D), f"{where}_logits": random(n, C)}
        return made

    clients = [client(k, [sum(LABELS[i] == c for i in own) for c in range(C)], **parts()) for k, own in OWNERS.items()]
    head = {PROTOTYPES: random(C, D), ANCHORS: random(C, D)}
    model = {"asked.logits": random(N, C), f"{RECALIBRATED}asked.logits": random(N, C), **head}
    broadcast = {"means.features": random(C, D), "means.counts": torch.tensor([3.0, 0.0, 2.0, 1.0])}
    common = {"own.features": random(len(LABELS), D), "asked.features": random(N, D)}
    return view(LABELS, OWNERS, common), Merged(model, clients, broadcast)


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_probabilities(situation, name):
    answers = PREDICTS.find(name).make(*situation)
    assert answers.shape == (N, C)
    assert answers.dtype == torch.float32
    assert answers.min() >= 0
    assert torch.allclose(answers.sum(1), torch.ones(N), atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_clients_does_not_matter(situation, name):
    asked, merged = situation
    there = PREDICTS.find(name).make(asked, merged)
    back = PREDICTS.find(name).make(asked, replace(merged, clients=merged.clients[::-1]))
    assert torch.equal(there, back)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_drawn_and_nothing_that_was_given_is_changed(situation, name):
    asked, merged = situation
    states = [merged.model, merged.broadcast, *(one.model for one in merged.clients)]
    before = [{key: tensor.clone() for key, tensor in state.items()} for state in states]
    with untouched_rng():
        PREDICTS.find(name).make(asked, merged)
    for state, kept in zip(states, before, strict=True):
        assert state.keys() == kept.keys()
        assert all(torch.equal(state[key], kept[key]) for key in kept)


@pytest.mark.parametrize("name", NAMES)
def test_an_image_is_answered_alone_as_among_others(situation, name):
    asked, merged = situation
    among = PREDICTS.find(name).make(asked, merged)

    def fifth(state: State) -> ModelOutput:
        return ModelOutput(*(part[4:5] for part in asked.asked(state)))

    alone = PREDICTS.find(name).make(replace(asked, asked=fifth), merged)
    assert torch.allclose(alone, among[4:5], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_second_exchange_is_one_that_sends_clients_what_they_did_not_have(situation, name):
    """What a client makes of its own model, or of filters that all know, travels in the upload."""
    asked, merged = situation
    own, sent = {one.client: one.model for one in merged.clients}, []

    def ask(who, models, summary):
        sent.extend(model for model in models if model is not COMMON and model is not own[who])
        return asked.ask(who, models, summary)

    def recalibrated(model):
        sent.append(model)
        return asked.recalibrated(model)

    PREDICTS.find(name).make(replace(asked, ask=ask, recalibrated=recalibrated), merged)
    assert bool(sent) == needs_second_exchange(name)
