from __future__ import annotations

import pytest
import torch

from equipoise.core.errors import ClientError, DataError, EngineError
from equipoise.core.values import ClientFailure, ClientState, ClientUpdate, Task
from equipoise.engine.messages import error_bytes, result_bytes, result_from, task_bytes, task_from
from tests.conftest import assert_same, assert_same_own, assert_same_update

STATE = {"encoder.0.weight": torch.randn(2, 3, 3, 3, generator=torch.Generator().manual_seed(7))}
OWN = ClientState(
    STATE,
    {"momentum/encoder.0.weight": torch.ones(2), "steps/": torch.tensor(3.0)},
    {"s": torch.ones(1)},
    {"memory.features": torch.eye(2), "memory.labels": torch.tensor([1, 0])},
    {"counts": torch.tensor([2.0, 0.0])},
)


@pytest.mark.parametrize("own", [ClientState(), OWN, ClientState(policy=OWN.policy)])
def test_a_task_comes_back(own):
    task = Task(4, 2, range(8, 12), {"w": torch.ones(3)}, own)
    back = task_from(task_bytes(task))
    assert (back.step, back.client, back.epochs) == (4, 2, range(8, 12))
    assert_same(back.shared, task.shared)
    assert_same_own(back.own, own)


def test_an_update_comes_back():
    update = ClientUpdate(5, 120, STATE, OWN, {"loss/base": 0.1 + 0.2, "steps": 7, "tiny": 5e-324}, [100, 0, 20])
    back = result_from(result_bytes(update))
    assert isinstance(back, ClientUpdate)
    assert_same_update(back, update)
    assert back.metrics == update.metrics
    assert back.model is back.own.model  # it travels once


def test_a_failure_comes_back():
    failure = ClientFailure(3, "non-finite", "loss is nan\n  where: client 3")
    assert result_from(result_bytes(failure)) == failure


def test_an_error_is_raised_again_with_its_three_parts():
    with pytest.raises(ClientError) as caught:
        result_from(error_bytes(DataError("no file", where="there", fix="get it")))
    assert (caught.value.what, caught.value.where, caught.value.fix) == ("no file", "there", "get it")


def test_what_is_not_a_message_is_an_engine_error():
    for read in (task_from, result_from):
        with pytest.raises(EngineError):
            read(b"not a message")
