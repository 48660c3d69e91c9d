from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from equipoise.core.values import ClientUpdate
from equipoise.server.merge import Merge, ServerState
from equipoise.server.optimise import adam, momentum, trainable, yogi
from tests.conftest import update


def scalar(value: float) -> dict[str, torch.Tensor]:
    return {"w": torch.tensor([value], dtype=torch.float64)}


def two_rounds(merge: Merge) -> list[ServerState]:
    """From w = 1: the clients' mean is first 3, then 2."""
    first = merge(ServerState(scalar(1.0)), [update(0, 1, scalar(2.0)), update(1, 1, scalar(4.0))])
    second = merge(first, [update(0, 3, scalar(1.0)), update(1, 1, scalar(5.0))])
    return [first, second]


def test_momentum_by_hand():
    lr, beta = 0.5, 0.9
    first, second = two_rounds(momentum(lr, beta))
    m1 = 3 - 1
    w1 = 1 + lr * m1
    m2 = beta * m1 + (2 - w1)
    assert first.model["w"].item() == w1 == 2
    assert second.model["w"].item() == pytest.approx(w1 + lr * m2, rel=1e-15)
    assert second.memory["m/w"].item() == pytest.approx(m2, rel=1e-15)


def test_momentum_of_nothing_at_rate_one_is_the_mean():
    first, second = two_rounds(momentum(1.0, 0.0))
    assert (first.model["w"].item(), second.model["w"].item()) == (3, 2)


def test_adam_by_hand():
    lr, b1, b2, tau = 0.1, 0.9, 0.99, 1e-3
    first, second = two_rounds(adam(lr, b1, b2, tau))
    d1 = 3 - 1
    m1, v1 = (1 - b1) * d1, (1 - b2) * d1**2
    w1 = 1 + lr * m1 / (v1**0.5 + tau)
    d2 = 2 - w1
    m2, v2 = b1 * m1 + (1 - b1) * d2, b2 * v1 + (1 - b2) * d2**2
    assert first.model["w"].item() == pytest.approx(w1, rel=1e-14)
    assert second.model["w"].item() == pytest.approx(w1 + lr * m2 / (v2**0.5 + tau), rel=1e-14)
    assert second.memory["v/w"].item() == pytest.approx(v2, rel=1e-14)


BUFFERS = {
    "bn.running_mean": torch.tensor([1.0]),
    "bn.running_var": torch.tensor([0.5]),
    "bn.num_batches_tracked": torch.tensor(3),
}


@pytest.mark.parametrize("merge", [momentum(10.0, 0.9), adam(10.0, 0.9, 0.99, 1e-3)], ids=["momentum", "adam"])
def test_statistics_are_averaged_never_stepped(merge):
    start = ServerState({**scalar(0.0), **BUFFERS})
    small = {name: tensor // 4 if name.endswith("tracked") else tensor / 4 for name, tensor in BUFFERS.items()}
    merged = merge(start, [update(0, 1, {**scalar(1.0), **small}), update(1, 1, {**scalar(1.0), **BUFFERS})])
    assert merged.model["bn.running_var"].item() == (0.125 + 0.5) / 2
    assert merged.model["bn.running_mean"].item() == (0.25 + 1.0) / 2
    assert merged.model["bn.num_batches_tracked"].item() == 3
    assert {name.split("/")[1] for name in merged.memory} == {"w"}


def test_trainable_leaves_out_statistics_and_counters():
    assert trainable({**scalar(0.0), **BUFFERS, "bn.weight": torch.ones(1)}) == ["w", "bn.weight"]


def test_the_state_before_is_not_changed():
    start = ServerState(scalar(1.0))
    merge = momentum(1.0, 0.9)
    one = merge(start, [update(0, 1, scalar(3.0))])
    merge(one, [update(0, 1, scalar(9.0))])
    assert start.model["w"].item() == 1
    assert start.memory == {}
    assert one.memory["m/w"].item() == 2


@pytest.mark.parametrize("merge", [momentum(0.5, 0.9), adam(0.1, 0.9, 0.99, 1e-3)], ids=["momentum", "adam"])
def test_rows_that_nobody_holds_neither_move_nor_forget(merge):
    """Three rows; the second round holds the last alone, and its buffers are those of that row by itself."""
    start = torch.tensor([[1.0], [2.0], [3.0]])

    def held(client: int, rows: list[int], values: list[float]) -> ClientUpdate:
        model = {"items": torch.tensor(values)[:, None]}
        return replace(update(client, 1, model), rows={"items": torch.tensor(rows)})

    first = merge(ServerState({"items": start}), [held(0, [0, 2], [1.5, 4.0]), held(1, [2], [6.0])])
    assert first.model["items"][1].item() == 2
    second = merge(first, [held(0, [2], [9.0])])
    assert torch.equal(second.model["items"][:2], first.model["items"][:2])
    for key in first.memory:
        assert torch.equal(second.memory[key][:2], first.memory[key][:2])
    alone = ServerState({"items": start[2:]})
    for values in ([5.0], [9.0]):
        alone = merge(alone, [update(0, 1, {"items": torch.tensor(values)[:, None]})])
    assert second.model["items"][2:].tolist() == alone.model["items"].tolist()


def test_the_second_moment_of_yogi_by_hand():
    merge = yogi(lr=1.0, beta1=0.0, beta2=0.9, tau=0.0)
    first = merge(ServerState(scalar(0.0)), [update(0, 1, scalar(2.0))])
    # v = 0 − 0.1·4·sign(0 − 4) = 0.4; w = 2/√0.4
    assert first.memory["v/w"].item() == pytest.approx(0.4)
    assert first.model["w"].item() == pytest.approx(2 / 0.4**0.5)
    behind = {"w": first.model["w"] + 0.5}
    second = merge(first, [update(0, 1, behind)])
    # Δ² = 0.25 < v: v = 0.4 − 0.1·0.25 = 0.375, where Adam's would be 0.9·0.4 + 0.1·0.25 = 0.385
    assert second.memory["v/w"].item() == pytest.approx(0.375)
