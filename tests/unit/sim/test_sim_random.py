"""The device has random streams of its own, and says who drew from them."""

from __future__ import annotations

import warnings
from types import ModuleType

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

DRAWS = {
    "rand": lambda: torch.rand(3, device="sim"),
    "randperm": lambda: torch.randperm(5, device="sim"),
    "normal_": lambda: torch.empty(3, device="sim").normal_(),
    "bernoulli": lambda: torch.full((9,), 0.5, device="sim").bernoulli(),
    "multinomial": lambda: torch.multinomial(torch.ones(5, device="sim"), 3),
    "dropout": lambda: F.dropout(torch.ones(9, device="sim")),
    "rrelu": lambda: F.rrelu(-torch.ones(9, device="sim"), training=True),
    "own generator": lambda: torch.rand(3, device="sim", generator=torch.Generator("sim")),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_draw_is_counted_and_leaves_the_cpu_alone(sim: ModuleType, draw):
    before = torch.get_rng_state()
    with sim.counting() as found:
        draw()
    assert found["draws"] == 1
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    "use",
    [
        lambda: torch.rand(3).to("sim"),
        lambda: F.dropout(torch.ones(9, device="sim"), training=False),
        lambda: F.scaled_dot_product_attention(*torch.ones(3, 1, 1, 2, 4, device="sim")),
    ],
    ids=["drawn on the cpu", "dropout that is off", "attention without dropout"],
)
def test_no_draw_is_counted_where_none_happens(sim: ModuleType, use):
    with sim.counting() as found:
        use()
    assert found["draws"] == 0


def drawn(seed: int, device: str = "sim") -> Tensor:
    torch.manual_seed(seed)
    return torch.rand(4, device=device).cpu()


def test_a_seed_fixes_the_stream_which_is_not_the_cpus(seed: int):
    with torch.random.fork_rng(devices=range(2)):
        assert torch.equal(drawn(seed), drawn(seed))
        assert not torch.equal(drawn(seed), drawn(seed + 1))
        assert not torch.equal(drawn(seed), drawn(seed, "cpu"))
        assert torch.equal(drawn(2**64 - 1), drawn(2**64 - 1))


def test_fork_rng_puts_the_devices_streams_back(sim: ModuleType):
    before = [sim.get_rng_state(k) for k in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns once that it forks the streams of every device
        with torch.random.fork_rng():
            torch.rand(2, device="sim")
            torch.rand(2, device="sim:1")
    assert all(torch.equal(sim.get_rng_state(k), before[k]) for k in range(2))
    with torch.random.fork_rng(devices=[]):
        torch.rand(2, device="sim")
    assert not torch.equal(sim.get_rng_state(0), before[0])


def test_a_generator_belongs_to_its_device(seed: int):
    first, second = (torch.Generator("sim").manual_seed(seed) for _ in range(2))
    assert first.initial_seed() == seed
    torch.rand(3, device="sim", generator=first)
    second.set_state(first.get_state())
    same = [torch.rand(3, device="sim", generator=each).cpu() for each in (first.clone_state(), first, second)]
    assert torch.equal(same[0], same[1])
    assert torch.equal(same[1], same[2])
    with pytest.raises(RuntimeError, match="generator"):
        torch.rand(3, device="sim", generator=torch.Generator())
