"""Every way to predict answers with probabilities, whatever the order of the clients, and leaves its inputs alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from equipoise.core.exchanges import needs_second_exchange
from equipoise.core.registry import PREDICTS, SUMMARIES
from equipoise.core.values import State
from equipoise.engine.roster import Roster
from equipoise.models.classifier import ModelOutput
from equipoise.models.heads import ANCHORS, PROTOTYPES
from equipoise.run.ask import tasks_of
from equipoise.server.predict import Merged, Predict, ServerView, question_of
from equipoise.server.recalibrate import SAMPLES, recalibrated_average
from tests.conftest import untouched_rng
from tests.unit.server.views import RUNNING_MEAN, Training, answers_to, client, view

C, D, N = 4, 3, 9
LABELS = [0, 0, 1, 2, 2, 2, 3, 0, 1, 1, 3, 3]
# client 7 has one image, client 4 one class
OWNERS = {2: [0, 1, 2, 3, 6, 8, 9, 10], 4: [4, 5], 7: [7], 9: [11]}
NAMES = PREDICTS.names()


@dataclass(frozen=True)
class Situation:
    training: Training
    merged: Merged
    measured: Mapping[int, State]
    """BatchNorm statistics that clients measure; no network is behind the tensors here."""

    def answers(self, predict: Predict) -> Mapping[int, State]:
        if predict is recalibrated_average:
            return self.measured
        return answers_to(predict, self.merged, self.training)

    def view(self, name: str) -> ServerView:
        return view(self.training, self.answers(PREDICTS.find(name).make))


@pytest.fixture
def situation() -> Situation:
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
    model = {"asked.logits": random(N, C), RUNNING_MEAN: random(C), **head}
    broadcast = {"means.features": random(C, D), "means.counts": torch.tensor([3.0, 0.0, 2.0, 1.0])}
    common = {"own.features": random(len(LABELS), D), "asked.features": random(N, D)}
    measured = {k: {RUNNING_MEAN: random(C), SAMPLES: torch.tensor(len(own))} for k, own in OWNERS.items()}
    return Situation(Training(LABELS, OWNERS, common), Merged(model, clients, broadcast), measured)


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_probabilities(situation, name):
    answers = PREDICTS.find(name).make(situation.view(name), situation.merged)
    assert answers.shape == (N, C)
    assert answers.dtype == torch.float32
    assert answers.min() >= 0
    assert torch.allclose(answers.sum(1), torch.ones(N), atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_clients_does_not_matter(situation, name):
    asked, merged = situation.view(name), situation.merged
    there = PREDICTS.find(name).make(asked, merged)
    back = PREDICTS.find(name).make(asked, replace(merged, clients=merged.clients[::-1]))
    assert torch.equal(there, back)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_drawn_and_nothing_that_was_given_is_changed(situation, name):
    asked, merged = situation.view(name), situation.merged
    states = [merged.model, merged.broadcast, *(one.model for one in merged.clients), *asked.answers.values()]
    before = [{key: tensor.clone() for key, tensor in state.items()} for state in states]
    with untouched_rng():
        PREDICTS.find(name).make(asked, merged)
    for state, kept in zip(states, before, strict=True):
        assert state.keys() == kept.keys()
        assert all(torch.equal(state[key], kept[key]) for key in kept)


@pytest.mark.parametrize("name", NAMES)
def test_an_image_is_answered_alone_as_among_others(situation, name):
    asked, merged = situation.view(name), situation.merged
    among = PREDICTS.find(name).make(asked, merged)

    def fifth(state: State) -> ModelOutput:
        return ModelOutput(*(part[4:5] for part in asked.outputs(state)))

    alone = PREDICTS.find(name).make(replace(asked, outputs=fifth), merged)
    assert torch.allclose(alone, among[4:5], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_second_exchange_is_one_that_sends_clients_what_they_did_not_have(situation, name):
    """What a client makes of its own model, or of filters that all know, travels in the upload."""
    merged, question = situation.merged, question_of(PREDICTS.find(name).make)
    roster = Roster(len(OWNERS), lambda client: np.array([1]), lambda client, step: False)
    tasks = [] if question is None else tasks_of(roster, merged, question, 0)
    own = {one.client: one.model for one in merged.clients}
    for task in tasks:
        assert not task.own.model or task.own.model is own[task.client]  # what it holds already
    assert any(task.shared for task in tasks) == needs_second_exchange(name)
    assert (question is not None and question.through in {"all", "merged"}) == needs_second_exchange(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_question_asks_for_a_summary_that_is_there(name):
    question = question_of(PREDICTS.find(name).make)
    assert question is None or callable(SUMMARIES.find(question.summary).make)
