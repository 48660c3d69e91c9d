from __future__ import annotations

import torch

from equipoise.core.values import ClientState, ClientUpdate, State, Task
from equipoise.evaluate.hashes import fingerprint, hashes

START: State = {"w": torch.zeros(3), "bn.running_mean": torch.zeros(2)}


def update(client: int, state: State) -> ClientUpdate:
    return ClientUpdate(client, 1, state, ClientState(), {})


def moved(by: float) -> State:
    return {name: tensor + by for name, tensor in START.items()}


def test_equal_to_the_last_bit_and_nothing_else() -> None:
    assert fingerprint(START) == fingerprint({name: tensor.clone() for name, tensor in reversed(START.items())})
    assert fingerprint(START) != fingerprint({**START, "w": torch.tensor([0.0, 0.0, 1e-45])})
    assert fingerprint({"a": torch.zeros(2)}) != fingerprint({"b": torch.zeros(2)})
    assert fingerprint({"n": torch.tensor(3)}) != fingerprint({"n": torch.tensor(4)})


def test_a_one_shot_client_goes_on_from_its_own_model() -> None:
    task = Task(1, 0, range(1), START, ClientState(model=moved(1.0)))
    scores = hashes([task], [update(0, moved(2.0))], None, True, START)
    assert scores[0, "hash/start"] == fingerprint(moved(1.0))
    assert scores[0, "hash/end"] == fingerprint(moved(2.0))
    assert (0, "hash/frozen") not in scores


def test_what_a_stage_does_not_train_is_compared_before_and_after() -> None:
    task = Task(0, 0, range(1), START)
    kept = hashes([task], [update(0, {**START, "w": torch.ones(3)})], {"w"}, False, START)
    assert kept[0, "hash/frozen"] == kept[0, "hash/frozen/start"]
    lost = hashes([task], [update(0, moved(1.0))], {"w"}, False, START)
    assert lost[0, "hash/frozen"] != lost[0, "hash/frozen/start"]
    assert (0, "hash/start") not in lost


def test_running_statistics_of_clients_and_of_what_was_merged() -> None:
    tasks = [Task(0, k, range(1), START) for k in range(2)]
    scores = hashes(tasks, [update(0, moved(1.0)), update(1, moved(2.0))], None, False, moved(1.0))
    assert scores[None, "hash/buffers"] == scores[0, "hash/buffers"] != scores[1, "hash/buffers"]
