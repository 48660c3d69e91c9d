from __future__ import annotations

import torch
from torch import nn

from equipoise.client.together import stacks
from equipoise.models.classifier import Classifier
from equipoise.models.frozen import Frozen, freeze, learning_modules


class Held(Frozen):
    def __init__(self) -> None:
        super().__init__()
        self.network = freeze(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5)))


def test_nothing_of_it_is_state_and_nothing_is_trained():
    held = Held()
    assert list(held.state_dict()) == list(held.parameters()) == []
    assert len(list(held.buffers())) == 7
    held.load_state_dict({})


def test_statistics_do_not_move_and_nothing_is_dropped():
    held, x = Held(), torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    held.train()
    before = held.network[1].running_mean.clone()
    first, second = held.network(x), held.network(x)
    assert torch.equal(first, second)
    assert torch.equal(before, held.network[1].running_mean)
    assert not held.network[2].training


def test_a_frozen_part_does_not_count_as_learning_and_keeps_clients_apart():
    model = Classifier(Held(), 3, 2)
    assert not any(isinstance(module, (nn.BatchNorm1d, Held)) for module in learning_modules(model))
    assert model.head in list(learning_modules(model))
    assert not stacks(model)
    assert stacks(model.head)
