from __future__ import annotations

import pytest
import torch

from equipoise.core.values import ClientState, ClientUpdate
from equipoise.models.heads import PROTOTYPES
from equipoise.server.merge import ServerState
from equipoise.server.prototypes import merge_prototypes, merged
from tests.conftest import assert_same


def client(number: int, prototypes, counts, weight: float = 0.0) -> ClientUpdate:
    model = {
        PROTOTYPES: torch.tensor(prototypes),
        "head.anchors": torch.eye(3, 2),
        "encoder.w": torch.tensor([weight]),
    }
    return ClientUpdate(number, sum(counts), model, ClientState(model), {}, counts)


# three classes in two dimensions; nobody has class 2
ONE = client(0, [[3.0, 4.0], [1.0, 0.0], [2.0, 0.0]], [30, 0, 0], weight=1.0)
TWO = client(1, [[0.0, 1.0], [0.0, 2.0], [0.0, 4.0]], [5, 5, 0], weight=5.0)


def test_plain_counts_every_client_the_same():
    assert merged("plain", [ONE, TWO]).tolist() == [[1.5, 2.5], [0.5, 1.0], [1.0, 2.0]]


def test_unit_takes_directions():
    expected = [[0.6 / 2, (0.8 + 1) / 2], [0.5, 0.5], [0.5, 0.5]]
    assert torch.allclose(merged("unit", [ONE, TWO]), torch.tensor(expected))


def test_counts_listens_to_who_has_the_class_and_to_all_where_nobody_has():
    expected = [[30 * 3 / 35, (30 * 4 + 5) / 35], [0.0, 2.0], [1.0, 2.0]]
    assert torch.allclose(merged("counts", [ONE, TWO]), torch.tensor(expected))


@pytest.mark.parametrize("kind", ["plain", "unit", "counts"])
def test_everything_else_is_the_mean_by_samples_and_anchors_stay(kind):
    state = ServerState({}, {"m": torch.ones(1)})
    after = merge_prototypes(kind)(state, [ONE, TWO])
    assert after.model["encoder.w"].item() == (30 * 1 + 10 * 5) / 40
    assert torch.equal(after.model["head.anchors"], torch.eye(3, 2))
    assert torch.equal(after.model[PROTOTYPES], merged(kind, [ONE, TWO]))
    assert after.model[PROTOTYPES].dtype == torch.float32
    assert after.memory is state.memory


@pytest.mark.parametrize("kind", ["plain", "unit", "counts"])
def test_the_order_of_the_clients_does_not_matter(kind):
    three = client(2, [[0.1, 0.7], [1e-3, 3.3], [5.0, 0.2]], [1, 2, 0], weight=0.3)
    state = ServerState({})
    there = merge_prototypes(kind)(state, [ONE, TWO, three]).model
    assert_same(merge_prototypes(kind)(state, [three, ONE, TWO]).model, there)


def test_clients_that_agree_are_merged_into_themselves():
    twin = client(1, [[3.0, 4.0], [1.0, 0.0], [2.0, 0.0]], [5, 5, 0])
    for kind in ("plain", "counts"):
        assert torch.equal(merged(kind, [ONE, twin]), ONE.model[PROTOTYPES])
