from __future__ import annotations

import json

import pytest
import torch

from equipoise.core.codec import Message
from equipoise.core.errors import ClientError, DataError
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Task
from equipoise.engine.messages import error_message, results_message, results_of, tasks_message, tasks_of
from equipoise.engine.slab import Slab, anonymous_file
from tests.conftest import assert_same, assert_same_own, assert_same_update

STATE = {"encoder.0.weight": torch.randn(2, 3, 3, 3, generator=torch.Generator().manual_seed(7))}
OWN = ClientState(
    STATE,
    {"momentum/encoder.0.weight": torch.ones(2), "steps/": torch.tensor(3.0)},
    {"s": torch.ones(1)},
    {"memory.features": torch.eye(2), "memory.labels": torch.tensor([1, 0])},
    {"counts": torch.tensor([2.0, 0.0])},
)


def travel(message: Message) -> Message:
    """As it goes from process to process: the header as JSON, the tensors through a slab."""
    header, tensors = message
    slab = Slab(anonymous_file(0))
    header, places = json.loads(json.dumps([header, slab.write(tensors)]))
    back = slab.read(places)
    slab.close()
    return header, back


COPY = ClientState.of({group: {k: t.clone() for k, t in state.items()} for group, state in OWN.groups().items()})


@pytest.mark.parametrize("own", [ClientState(), OWN, ClientState(policy=OWN.policy)])
def test_a_task_comes_back(own):
    task = Task(4, 2, range(8, 12), {"w": torch.ones(3)}, own)
    (back,) = tasks_of(travel(tasks_message([task])), task.shared)
    assert (back.step, back.client, back.epochs) == (4, 2, range(8, 12))
    assert_same(back.shared, task.shared)
    assert_same_own(back.own, own)


def test_an_update_comes_back():
    update = ClientUpdate(5, 120, STATE, OWN, {"loss/base": 0.1 + 0.2, "steps": 7, "tiny": 5e-324}, [100, 0, 20])
    (back,) = results_of(travel(results_message([update])))
    assert isinstance(back, ClientUpdate)
    assert_same_update(back, update)
    assert back.metrics == update.metrics
    assert back.model is back.own.model  # it travels once


def test_a_failure_comes_back():
    failure = ClientFailure(3, "non-finite", "loss is nan\n  where: client 3")
    assert results_of(travel(results_message([failure]))) == [failure]


def test_a_cohort_comes_back_in_its_order_without_what_the_server_sent():
    shared = {"w": torch.ones(300)}
    tasks = [Task(1, client, range(2), shared, own) for client, own in ((5, OWN), (2, ClientState()), (9, COPY))]
    message = tasks_message(tasks)
    back = tasks_of(travel(message), shared)
    assert [task.client for task in back] == [5, 2, 9]
    for task, other in zip(back, tasks, strict=True):
        assert_same_own(task.own, other.own)
        assert_same(task.shared, shared)
    assert not any("shared" in name for name in message[1])
    results = [
        ClientUpdate(5, 1, STATE, OWN, {}),
        ClientFailure(2, "non-finite", "nan"),
        ClientUpdate(9, 2, COPY.model, COPY, {}),
    ]
    assert [result.client for result in results_of(travel(results_message(results)))] == [5, 2, 9]


def test_an_error_is_raised_again_with_its_three_parts():
    with pytest.raises(ClientError) as caught:
        results_of(travel(error_message(DataError("no file", where="there", fix="get it"))))
    assert (caught.value.what, caught.value.where, caught.value.fix) == ("no file", "there", "get it")
