from __future__ import annotations

import pytest
import torch

from equipoise.core.values import ClientState, ClientUpdate
from equipoise.server.merge import ServerState
from equipoise.server.normalised import normalised


def sent(client: int, samples: int, reach: float, model, **rows) -> ClientUpdate:
    held = {name: torch.tensor(each) for name, each in rows.items()}
    tensors = {name: torch.tensor(each) for name, each in model.items()}
    return ClientUpdate(client, samples, tensors, ClientState(report={"reach": torch.tensor(reach)}), {}, (), held)


def test_ways_are_divided_by_their_length_and_made_as_long_as_the_mean_one():
    # shares 1/4 and 3/4; a = 0.25·2 + 0.75·6 = 5; 1 + 5·(0.25·(3 − 1)/2 + 0.75·(7 − 1)/6) = 1 + 5·(0.25 + 0.75)
    after = normalised(
        ServerState({"w": torch.tensor([1.0])}), [sent(0, 1, 2.0, {"w": [3.0]}), sent(1, 3, 6.0, {"w": [7.0]})]
    )
    assert after.model["w"].tolist() == pytest.approx([6.0])


def test_statistics_of_batch_norm_are_averaged_as_they_are():
    start = {"n.running_var": torch.tensor([1.0]), "n.num_batches_tracked": torch.tensor(0)}
    clients = [
        sent(0, 1, 1.0, {"n.running_var": [2.0], "n.num_batches_tracked": 3}),
        sent(1, 1, 9.0, {"n.running_var": [4.0], "n.num_batches_tracked": 5}),
    ]
    after = normalised(ServerState(start), clients).model
    assert (after["n.running_var"].item(), after["n.num_batches_tracked"].item()) == (3.0, 5)


def test_of_a_table_that_clients_hold_in_part_each_row_goes_by_those_who_hold_it():
    # a = ½·1 + ½·3 = 2: client 0's way is doubled, client 1's is 2/3 as long
    table = ServerState({"items": torch.tensor([[0.0], [0.0], [5.0]])})
    clients = [
        sent(0, 1, 1.0, {"items": [[1.0], [1.0]]}, items=[0, 1]),
        sent(1, 1, 3.0, {"items": [[3.0]]}, items=[1]),
    ]
    after = normalised(table, clients).model["items"]
    assert after.flatten().tolist() == pytest.approx([2.0, (2.0 + 2.0) / 2, 5.0])


def test_the_order_of_the_clients_does_not_matter():
    clients = [sent(k, k + 1, 0.1 + k, {"w": [float(k) ** 3]}) for k in range(4)]
    state = ServerState({"w": torch.tensor([0.3])})
    assert torch.equal(normalised(state, clients).model["w"], normalised(state, clients[::-1]).model["w"])
