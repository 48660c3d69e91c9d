from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.core.values import Moment
from equipoise.models.classifier import ModelOutput
from equipoise.objective.compose import Batch, Net, objective, staged

NET = Net(lambda images: ModelOutput(images, images), {})
BATCH = Batch(torch.zeros(1, 2), torch.tensor([0]))


def constant(name: str):
    return objective({name: lambda view: view.features.sum() + view.received["w"]})


def used(cycle: int, epochs: int, over: range) -> str:
    """One letter for the objective of each epoch."""
    both = staged(constant("a"), constant("b"), cycle, epochs)
    letters = []
    for epoch in over:
        losses = both(NET, BATCH, {"w": torch.tensor(2.0)}, Moment(0.0, np.array([1, 0]), epoch))
        assert losses.base.item() == 2  # what it is given is passed on
        letters += losses.parts
    return "".join(letters)


@pytest.mark.parametrize(
    ("cycle", "epochs", "expected"),
    [
        (5, 1, "abbbbabbbbab"),
        (3, 2, "aabaabaabaab"),
        (4, 0, "bbbbbbbbbbbb"),
        (1, 1, "aaaaaaaaaaaa"),
        (2, 7, "aaaaaaaaaaaa"),
    ],
)
def test_the_first_epochs_of_every_cycle_have_their_own_objective(cycle, epochs, expected):
    assert used(cycle, epochs, range(12)) == expected


def test_epochs_are_those_of_the_whole_run_not_of_a_checkpoint():
    assert used(5, 1, range(3, 8)) == "bbabb"


def test_the_objective_that_is_not_its_turn_is_not_computed():
    def never(*_):
        raise AssertionError

    both = staged(never, constant("b"), 2, 1)
    assert both(NET, BATCH, {"w": torch.tensor(0.0)}, Moment(0.0, np.array([1, 0]), 1)).parts.keys() == {"b"}
