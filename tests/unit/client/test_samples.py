from __future__ import annotations

import pytest
import torch

from equipoise.client.samples import SampleWork
from equipoise.objective.compose import Batch


def test_statistics_of_what_enters_a_network_are_each_clients_own():
    images = torch.tensor(
        [[[1.0, 2.0], [3.0, 6.0]], [[5.0, 5.0], [5.0, 5.0]]]
    )  # two clients, two samples of two numbers
    found = SampleWork.input_statistics(None, Batch(images, torch.zeros(2, 2)))
    assert found["input/mean/train"].tolist() == [3.0, 5.0]
    assert found["input/std/train"].tolist() == [pytest.approx((14 / 3) ** 0.5), 0.0]


def test_a_large_mean_takes_nothing_from_the_deviation():
    images = torch.tensor([[[1e4, 1e4 + 1.0], [1e4 + 2.0, 1e4 + 3.0]]])
    found = SampleWork.input_statistics(None, Batch(images, torch.zeros(1, 2)))
    assert found["input/std/train"].item() == pytest.approx((5 / 3) ** 0.5)
