from __future__ import annotations

import pytest
import torch

from equipoise.balance.policy import Learning
from equipoise.client.optimiser import clipped, descend, restored, start_buffers
from equipoise.config.blocks import ClientOptions
from tests.conftest import assert_same


def one_weight(value: float) -> dict[str, torch.Tensor]:
    return {"w": torch.tensor([value], dtype=torch.float64, requires_grad=True)}


def push(params, buffers, options, gradient: float) -> float:
    params["w"].grad = torch.full_like(params["w"], gradient)
    descend(params, buffers, options)
    return params["w"].item()


def test_sgd_by_hand():
    options = ClientOptions(lr=0.1, momentum=0.5, weight_decay=0.01)
    params = one_weight(2.0)
    buffers = start_buffers(params, options)
    first = 3 + 0.01 * 2  # m = g + wd·w
    assert push(params, buffers, options, 3.0) == pytest.approx(2 - 0.1 * first)
    w = 2 - 0.1 * first
    second = 0.5 * first + (-1 + 0.01 * w)
    assert push(params, buffers, options, -1.0) == pytest.approx(w - 0.1 * second)
    assert buffers["momentum/w"].item() == pytest.approx(second)


def test_adamw_by_hand():
    lr, b1, b2, wd, eps = 0.1, 0.5, 0.999, 0.2, 1e-8
    options = ClientOptions(optimiser="adamw", lr=lr, momentum=b1, weight_decay=wd)
    params = one_weight(2.0)
    buffers = start_buffers(params, options)
    # t = 1: the corrected m and v are g and g², so the step is lr·sign(g)
    assert push(params, buffers, options, 3.0) == pytest.approx(2 * (1 - lr * wd) - lr)
    w = 2 * (1 - lr * wd) - lr
    m = b1 * (1 - b1) * 3 + (1 - b1) * -1
    v = b2 * (1 - b2) * 9 + (1 - b2) * 1
    step = lr * (m / (1 - b1**2)) / ((v / (1 - b2**2)) ** 0.5 + eps)
    assert push(params, buffers, options, -1.0) == pytest.approx(w * (1 - lr * wd) - step)
    assert buffers["steps/"].item() == 2


def twin(model: torch.nn.Module) -> torch.nn.Module:
    copy = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(16, 3))
    copy.load_state_dict(model.state_dict())
    return copy.to(memory_format=torch.channels_last)


@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("name", ["sgd", "adamw"])
def test_the_arithmetic_is_torchs_to_the_last_bit(name, momentum, weight_decay, seed):
    generator = torch.Generator().manual_seed(seed)
    options = ClientOptions(optimiser=name, lr=0.03, momentum=momentum, weight_decay=weight_decay)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        ours = twin(torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(16, 3)))
        theirs = twin(ours)
    if name == "sgd":
        reference = torch.optim.SGD(theirs.parameters(), lr=0.03, momentum=momentum, weight_decay=weight_decay)
    else:
        betas = (momentum, 0.999)
        reference = torch.optim.AdamW(theirs.parameters(), lr=0.03, betas=betas, weight_decay=weight_decay)
    params = dict(ours.named_parameters())
    buffers = start_buffers(params, options)
    for _ in range(4):
        images = torch.randn(5, 3, 4, 4, generator=generator)
        for model in (ours, theirs):
            model.zero_grad()
            model(images).square().mean().backward()
        descend(params, buffers, options)
        reference.step()
    assert_same(ours.state_dict(), theirs.state_dict())


def test_buffers_are_named_after_their_weights():
    params = {"head.weight": torch.zeros(2), "head.bias": torch.zeros(1)}
    assert start_buffers(params, ClientOptions()).keys() == {"momentum/head.weight", "momentum/head.bias"}
    adamw = start_buffers(params, ClientOptions(optimiser="adamw")).keys()
    assert adamw == {f"{kind}/{name}" for kind in ("momentum", "square") for name in params} | {"steps/"}


@pytest.mark.parametrize("name", ["sgd", "adamw"])
def test_buffers_are_put_down_and_taken_up_again_in_the_layout_of_their_weights(name):
    options = ClientOptions(optimiser=name)
    params = {"w": torch.ones(2, 3, 4, 4).contiguous(memory_format=torch.channels_last).requires_grad_()}
    params["w"].grad = torch.full_like(params["w"], 0.5)
    buffers = start_buffers(params, options)
    descend(params, buffers, options)
    saved = {key: value.clone(memory_format=torch.contiguous_format) for key, value in buffers.items()}
    again = restored(saved, start_buffers(params, options))
    assert_same(again, buffers)
    assert again["momentum/w"].is_contiguous(memory_format=torch.channels_last)
    assert saved["momentum/w"] is not again["momentum/w"]


def test_nothing_saved_is_a_fresh_start():
    fresh = {"momentum/w": torch.zeros(2)}
    assert restored({}, fresh) is fresh


def test_a_stage_that_trains_other_weights_begins_anew():
    fresh = {"momentum/w": torch.zeros(2), "momentum/v": torch.zeros(2)}
    assert restored({"momentum/w": torch.ones(2)}, fresh) is fresh


def test_a_weight_that_took_no_part_is_left_alone():
    options = ClientOptions(lr=1.0)
    params = {"used": torch.ones(1, requires_grad=True), "unused": torch.ones(1, requires_grad=True)}
    params["used"].grad = torch.ones(1)
    descend(params, start_buffers(params, options), options)
    assert (params["used"].item(), params["unused"].item()) == (0.0, 1.0)


def clip(norm: float, own: dict[str, float], most: float | None, kind: str | None) -> tuple[float, float, float]:
    """(norm before, factor, norm after) of a network gradient of that norm, beside a policy's."""
    weight = torch.zeros(2, requires_grad=True)
    weight.grad = torch.tensor([0.6, 0.8]) * norm
    learning = None if kind is None else Learning(0.1, 0.9, kind)  # type: ignore[arg-type]
    before, factor = clipped(
        [weight],
        [{k: torch.tensor(v) for k, v in own.items()}],
        most,
        learning is not None and learning.clip == "joint",
    )
    return before, factor, weight.grad.norm().item()


@pytest.mark.parametrize(("norm", "factor"), [(2.0, 0.5), (1.0, 1.0), (0.1, 1.0), (0.0, 1.0)])
def test_the_clipping_factor(norm, factor):
    assert clip(norm, {}, 1.0, None) == pytest.approx((norm, factor, norm * factor), rel=1e-5)


def test_without_a_clip_nothing_is_multiplied():
    assert clip(100.0, {"a": 7.0}, None, "joint") == pytest.approx((100, 1, 100))


@pytest.mark.parametrize("kind", ["none", "separate"])
def test_the_policys_gradient_is_not_in_the_networks_clip(kind):
    assert clip(2.0, {"a": 50.0, "b": -50.0}, 1.0, kind) == pytest.approx((2, 1 / 2, 1), rel=1e-5)


def test_in_a_joint_clip_it_is():
    # √(2² + 2² + 1²) = 3
    assert clip(2.0, {"a": 2.0, "b": -1.0}, 1.0, "joint") == pytest.approx((2, 1 / 3, 2 / 3), rel=1e-5)


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_tables_of_items_do_not_decay(optimiser):
    """No gradient: the one weight fades, the table stays."""
    options = ClientOptions(optimiser=optimiser, lr=0.1, momentum=0.0, weight_decay=0.2)
    params = {name: torch.full((3,), 2.0, requires_grad=True) for name in ("w", "items.weight")}
    for param in params.values():
        param.grad = torch.zeros_like(param)
    descend(params, start_buffers(params, options), options, tables=("items.weight",))
    assert params["w"].tolist() == pytest.approx([2.0 * (1 - 0.1 * 0.2)] * 3)
    assert params["items.weight"].tolist() == [2.0] * 3
