"""Each mistake that a program can make with a device shows on the simulated one."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

CPU = torch.arange(12.0).reshape(3, 4)
LABELS = torch.tensor([0, 2, 1])
N_BYTES = 12 * 4


def on_sim(tensor: Tensor = CPU) -> Tensor:
    return tensor.to("sim")


MIXED: dict[str, Callable[[Tensor, Tensor], object]] = {
    "add": lambda here, there: here + there,
    "matmul": lambda here, there: here @ there.T,
    "linear": F.linear,
    "cat": lambda here, there: torch.cat([here, there]),
    "stack of numbers": lambda here, there: torch.stack([here[0, 0], there[0, 0]]),
    "embedding": lambda here, there: F.embedding(LABELS, here),
    "cross_entropy": lambda here, there: F.cross_entropy(here, LABELS),
    "conv1d": lambda here, there: F.conv1d(here[None], there[None]),
    "conv2d": lambda here, there: F.conv2d(here[None, None], there[None, None]),
    "where": lambda here, there: torch.where(here > 0, here, there),
    "gather": lambda here, there: here.gather(1, LABELS[:, None]),
    "out": lambda here, there: torch.add(here, here, out=torch.empty(0)),
    "in place on the cpu": lambda here, there: there.clone().add_(here),
    "in place on a cpu number": lambda here, there: there[0, 0].clone().add_(here[0, 0]),
    "batch_norm": lambda here, there: F.batch_norm(here, torch.zeros(4), torch.ones(4)),
    "foreach": lambda here, there: torch._foreach_add([here], [there]),
    "another sim": lambda here, there: here + there.to("sim:1"),
    "a number on another sim": lambda here, there: here * there[0, 0].to("sim:1"),
}


@pytest.mark.parametrize("mix", MIXED.values(), ids=MIXED)
def test_tensors_of_two_devices_cannot_be_mixed(mix):
    with pytest.raises(RuntimeError, match="same device"):
        mix(on_sim(), CPU)


def test_a_number_on_the_cpu_may_be_used():
    assert torch.equal((on_sim() * torch.tensor(2.0) + 1).cpu(), CPU * 2 + 1)
    assert torch.equal(on_sim().masked_fill(on_sim() > 3, torch.tensor(0.0)).cpu(), CPU.masked_fill(CPU > 3, 0))
    assert torch.equal(on_sim()[LABELS].cpu(), CPU[LABELS])


@pytest.mark.parametrize("read", [Tensor.numpy, np.asarray, torch.from_dlpack], ids=["numpy", "asarray", "dlpack"])
def test_numpy_cannot_read_the_device(read):
    with pytest.raises((TypeError, ValueError), match="sim"):
        read(on_sim())


REFUSED: dict[str, Callable[[Tensor], object]] = {
    "cast": lambda here: here.double(),
    "cast on the way to the host": lambda here: here.to("cpu", torch.float64),
    "factory": lambda here: torch.zeros(2, dtype=torch.float64, device="sim"),
    "tensor": lambda here: torch.tensor([1.0], dtype=torch.float64, device="sim"),
    "move": lambda here: CPU.double().to("sim"),
    "result": lambda here: here.sum(dtype=torch.float64),
}


@pytest.mark.parametrize("use", REFUSED.values(), ids=REFUSED)
def test_a_type_that_the_device_lacks_is_refused(sim: ModuleType, use):
    use(on_sim())
    with sim.lacking(torch.float64), pytest.raises(TypeError, match="does not support"):
        use(on_sim())


def test_what_lacks_float64_can_still_be_read_as_such(sim: ModuleType):
    with sim.lacking(torch.float64):
        assert torch.equal(CPU.double().to("sim", torch.float32).cpu().double(), CPU.double())


def test_memory_runs_out_at_the_limit_and_is_there_again_when_freed(sim: ModuleType):
    used = sim.memory_allocated()
    with sim.limited(used + 10_000):
        kept = torch.zeros(2_000, device="sim")
        assert torch.accelerator.get_memory_info(0) == (2_000, used + 10_000)
        with pytest.raises(torch.OutOfMemoryError, match="sim out of memory"):
            torch.empty(2_000, device="sim")
        with pytest.raises(torch.OutOfMemoryError):
            kept.exp()
        torch.empty(2_000, device="sim:1")
        del kept
        torch.empty(2_000, device="sim")


def test_memory_is_counted_per_device(sim: ModuleType):
    before = [torch.accelerator.memory_allocated(k) for k in (0, 1)]
    sim.reset_peak_memory_stats(1)
    kept = torch.zeros(500, device="sim:1")
    assert [torch.accelerator.memory_allocated(k) for k in (0, 1)] == [before[0], before[1] + 2_000]
    del kept
    assert (sim.memory_allocated(1), sim.max_memory_allocated(1)) == (before[1], before[1] + 2_000)


def test_a_view_costs_no_memory(sim: ModuleType):
    here = on_sim()
    used = sim.memory_allocated()
    views = [here.view(-1), here.T, here[1:], here.expand(5, 3, 4), here.unbind(0)]
    assert sim.memory_allocated() == used, views


COUNTED: dict[str, tuple[Callable[[Tensor], object], dict[str, int]]] = {
    "two kernels": (lambda here: here.mul_(2).add_(1), {"ops": 2}),
    "views": (lambda here: here.view(-1)[2:].unsqueeze(0).T, {"ops": 0}),
    "item": (lambda here: here[0, 0].item(), {"ops": 1, "waits": 1}),
    "bool": (lambda here: bool(here[0, 0]), {"waits": 1}),
    "equal": (lambda here: torch.equal(here, here), {"waits": 1}),
    "cpu": (lambda here: here.cpu(), {"waits": 1, "to_host": 1, "bytes_to_host": N_BYTES}),
    "tolist": (lambda here: here.tolist(), {"waits": 1, "to_host": 1, "bytes_to_host": N_BYTES}),
    "half of it": (lambda here: here.half().cpu(), {"waits": 1, "to_host": 1, "bytes_to_host": N_BYTES // 2}),
    "nonzero": (lambda here: here.nonzero(), {"waits": 1}),
    "unique": (lambda here: here.unique(), {"waits": 1}),
    "read by mask": (lambda here: here[here > 3], {"waits": 1}),
    "write by mask": (lambda here: here.__setitem__(here > 3, here[0, :1].expand(8)), {"waits": 1}),
    "write a number by mask": (lambda here: here.__setitem__(here > 3, 0.0), {}),
    "read by index": (lambda here: here[torch.zeros(2, dtype=torch.int64, device="sim")], {}),
    "read by host's index": (lambda here: here[LABELS], {"waits": 1, "to_device": 1, "bytes_to_device": 24}),
    "upload": (lambda here: here.copy_(CPU), {"ops": 1, "waits": 1, "to_device": 1, "bytes_to_device": N_BYTES}),
    "upload as bytes": (lambda here: CPU.byte().to("sim"), {"waits": 1, "to_device": 1, "bytes_to_device": 12}),
    "synchronize": (lambda here: torch.accelerator.synchronize(), {"ops": 0, "waits": 1}),
}


@pytest.mark.parametrize(("act", "expected"), COUNTED.values(), ids=COUNTED)
def test_operations_waits_and_copies_are_counted(sim: ModuleType, act, expected):
    here = on_sim()
    with sim.counting() as found:
        act(here)
    compared = {"ops"} & expected.keys() | {
        "waits",
        "draws",
        "to_host",
        "to_device",
        "bytes_to_host",
        "bytes_to_device",
    }
    assert {name: found[name] for name in compared} == {name: expected.get(name, 0) for name in compared}


def test_counts_and_kernels_tell_devices_and_operations_apart(sim: ModuleType):
    here, there = on_sim(), CPU.to("sim:1")
    with sim.counting(0) as first, sim.counting("sim:1") as second, sim.kernels() as kernels:
        here.mul_(2)
        there.mul_(2)
        there.abs_()
    assert (first["ops"], second["ops"]) == (1, 2)
    assert sum(kernels.values()) == 3
    assert kernels["aten::mul_.Tensor"] == 2


def test_host_memory_reused_too_early_spoils_an_upload():
    for is_safe in (False, True):
        pinned = torch.ones(4).pin_memory()
        here = pinned.to("sim", non_blocking=True)
        if is_safe:
            torch.accelerator.synchronize()
        pinned.zero_()
        assert here.sum().item() == 4 * is_safe


def test_a_download_read_too_early_is_not_there_yet():
    here, pinned = torch.ones(4, device="sim"), torch.zeros(4, pin_memory=True)
    pinned.copy_(here, non_blocking=True)
    here.zero_()
    assert pinned.isnan().all()
    torch.accelerator.synchronize()
    assert pinned.sum() == 4
    assert here.add(1).to("cpu", non_blocking=True).isnan().all()


def test_memory_that_is_not_pinned_is_copied_at_once():
    target = torch.zeros(4).copy_(torch.ones(4, device="sim"), non_blocking=True)
    assert target.sum() == 4
    assert CPU.pin_memory().is_pinned()
    assert CPU.pin_memory()[1:].is_pinned()
    assert not CPU.is_pinned()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_what_was_never_written_is_not_a_number(dtype: torch.dtype):
    here = torch.empty(5, device="sim", dtype=dtype)
    assert here.isnan().all()
    assert torch.empty_like(here).isnan().all()


def test_a_lost_device_fails_and_the_other_goes_on(sim: ModuleType):
    here, there = on_sim(), CPU.to("sim:1")
    sim.lose(1)
    for use in (lambda: there + 1, there.cpu, lambda: CPU.to("sim:1"), lambda: torch.empty(2, device="sim:1")):
        with pytest.raises(RuntimeError, match="sim error: device lost"):
            use()
    with pytest.raises(RuntimeError, match="device lost"):
        torch.accelerator.synchronize(1)
    assert torch.equal((here + 1).cpu(), CPU + 1)
    sim.restore(1)
    assert torch.equal(there.cpu(), CPU)


def test_a_device_is_lost_after_as_many_operations_as_said(sim: ModuleType):
    here = on_sim()
    sim.lose(0, after=2)
    assert here[0, 1].item() == 1
    assert torch.equal(here.cpu(), CPU)
    with pytest.raises(RuntimeError, match="device lost"):
        here.cpu()


def test_a_device_is_lost_in_the_middle_of_a_backward_pass(sim: ModuleType):
    weight = torch.ones(4, device="sim", requires_grad=True)
    loss = (on_sim() * weight).exp().sum()
    sim.lose("sim:0", after=2)
    with pytest.raises(RuntimeError, match="device lost"):
        loss.backward()


def test_torch_accelerator_is_sim(sim: ModuleType):
    assert torch.accelerator.current_accelerator() == torch.device("sim")
    assert torch.accelerator.device_count() == sim.device_count() == 2
    assert torch.get_device_module() is torch.get_device_module("sim") is sim
    assert torch.accelerator.get_memory_info(1)[1] == 2**34
    with torch.accelerator.device_index(1), torch.device("sim"):
        assert torch.zeros(1).device == torch.device("sim:1")
    with pytest.raises(RuntimeError, match="no device 2, there are 2"):
        torch.zeros(1, device="sim:2")
