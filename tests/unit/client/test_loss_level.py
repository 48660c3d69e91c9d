"""Losses are written where they were made, and move the running level."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.client.loss_level import LossLevel
from equipoise.core.device import Device


def test_the_first_step_sets_the_level_and_each_later_step_moves_it_by_a_tenth():
    level = LossLevel({}, [6], Device())
    level.observe(torch.tensor([[1.0, 3.0], [5.0, 99.0]]), [(0, 1, 3), (0, 4, 5)])  # 99 is padding
    assert level.latest[0].tolist() == [-1, 1, 3, -1, 5, -1]
    assert level.level.tolist() == pytest.approx([3, np.sqrt(8 / 3)])
    level.observe(torch.tensor([[13.0, 13.0]]), [(0, 1, 3)])
    assert level.level.tolist() == pytest.approx([3 + 0.1 * 10, 0.9 * np.sqrt(8 / 3)])
    assert level.latest[0].tolist() == [-1, 13, 13, -1, 5, -1]


def test_losses_belong_to_the_history_they_were_made_in():
    level = LossLevel({}, [3, 2], Device())
    level.observe(torch.tensor([[7.0]]), [(1, 1, 2)])
    assert [each.tolist() for each in level.latest] == [[-1, -1, -1], [-1, 7]]


def test_a_later_task_begins_where_the_last_one_ended_even_when_the_history_has_grown():
    own = {"loss": torch.tensor([-1.0, 2.0]), "level": torch.tensor([2.0, 0.5])}
    level = LossLevel(own, [4], Device())
    assert level.latest[0].tolist() == [-1, 2, -1, -1]
    level.observe(torch.tensor([[3.0, 3.0]]), [(0, 2, 4)])
    assert level.level.tolist() == pytest.approx([2.1, 0.45])
    assert own["level"].tolist() == [2.0, 0.5]  # what the server sent stays as it was
