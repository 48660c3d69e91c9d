from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.values import Moment
from equipoise.objective.bank import queue
from equipoise.objective.compose import View

NOW = Moment(0.0, np.array([1, 1]))


def view(features, labels, received=None) -> View:
    features = torch.as_tensor(features)
    return View(features, torch.zeros(len(features), 2), torch.tensor(labels), {}, received or {}, NOW)


def test_features_by_their_direction_with_their_labels():
    kept = queue(10, "memory")(view([[3.0, 4.0], [0.0, 2.0]], [1, 0]))
    assert kept.keys() == {"memory.features", "memory.labels"}
    assert kept["memory.features"].flatten().tolist() == pytest.approx([0.6, 0.8, 0, 1])
    assert kept["memory.labels"].tolist() == [1, 0]


def test_the_newest_come_first_and_the_oldest_go():
    remember = queue(3, "memory")
    east, north = [1.0, 0.0], [0.0, 1.0]
    first = remember(view([east, north], [0, 1]))
    second = remember(view([north, north], [2, 3], first))
    assert second["memory.labels"].tolist() == [2, 3, 0]
    assert second["memory.features"].tolist() == [north, north, east]
    assert first["memory.labels"].tolist() == [0, 1]  # what was given is not changed


def test_a_batch_larger_than_the_memory_leaves_its_first_images():
    kept = queue(2, "memory")(view(torch.eye(3), [0, 1, 2]))
    assert kept["memory.labels"].tolist() == [0, 1]


def test_what_is_remembered_has_no_gradient_and_does_not_move_with_the_features():
    features = torch.eye(2, requires_grad=True)
    kept = queue(4, "memory")(view(features, [0, 1]))
    assert not kept["memory.features"].requires_grad
    with torch.no_grad():
        features += 7
    assert kept["memory.features"].tolist() == [[1, 0], [0, 1]]


def test_memories_of_different_names_do_not_meet():
    received = {"public.features": torch.eye(2), "public.labels": torch.tensor([5, 6])}
    kept = queue(8, "memory")(view([[1.0, 0.0]], [1], received))
    assert kept["memory.labels"].tolist() == [1]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=6))
def test_it_is_the_newest_labels_and_never_longer_than_its_size(size, batches) -> None:
    remember, kept, everything = queue(size, "m"), {}, []
    for labels in batches:
        kept = remember(view(torch.ones(len(labels), 2), labels, kept))
        everything = [*labels, *everything]
        assert kept["m.labels"].tolist() == everything[:size]
        assert len(kept["m.features"]) == len(kept["m.labels"]) <= size
        assert torch.allclose(kept["m.features"].norm(dim=1), torch.ones(len(kept["m.labels"])))
