from __future__ import annotations

import pytest
from torch import nn

from equipoise.models.classifier import Classifier, normaliser


@pytest.mark.parametrize(
    ("channels", "groups"), [(1, 1), (8, 1), (16, 1), (24, 2), (32, 2), (50, 5), (64, 4), (17, 17), (128, 8)]
)
def test_group_norm_has_as_few_equal_groups_of_at_most_16_as_there_can_be(channels, groups):
    norm = normaliser("group", channels)
    assert isinstance(norm, nn.GroupNorm)
    assert norm.num_groups == groups
    assert channels % groups == 0
    assert channels // groups <= 16


def test_batch_norm_and_nothing():
    assert isinstance(normaliser("batch", 8), nn.BatchNorm2d)
    assert isinstance(normaliser("none", 8), nn.Identity)


def test_groups_are_named_after_the_two_parts():
    model = Classifier(nn.Linear(2, 3), 3, 4)
    assert model.groups == {
        "encoder": ["encoder.weight", "encoder.bias"],
        "head": ["head.weight", "head.bias"],
    }
