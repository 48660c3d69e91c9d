from __future__ import annotations

from types import SimpleNamespace

import torch
from torch import nn

from equipoise.client.finished import Finished
from equipoise.core.values import ClientState, Task

SHARED = {"w": torch.zeros(2), "head": torch.ones(1), "means.features": torch.ones(3)}


def finished(task: Task, feed=None) -> Finished:
    return Finished(task, {"w": torch.full((2,), 5.0)}, {}, 4, 0.1, nn.Identity(), feed)


def test_the_start_is_what_the_server_sent_where_the_client_has_none_of_its_own():
    assert finished(Task(0, 1, range(1), SHARED)).start == SHARED


def test_a_clients_own_model_or_its_personal_part_comes_before_the_servers():
    own = ClientState(model={"head": torch.tensor([7.0])})
    start = finished(Task(0, 1, range(1), SHARED, own)).start
    assert start["head"] is own.model["head"]
    assert start["w"] is SHARED["w"]


def test_own_samples_are_seen_through_the_trained_model_by_the_network():
    asked = []
    feed = SimpleNamespace(own=lambda network, models: asked.append((network, models)) or "samples")
    done = finished(Task(0, 1, range(1), SHARED), feed)
    assert done.own() == "samples"
    assert asked == [(done.network, [done.model])]
