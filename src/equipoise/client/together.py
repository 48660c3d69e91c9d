"""How many clients train along one axis: as many as fit into a core's cache, or into a device's memory.

    CPU      K = C / (12·W)                    W weights; weight, gradient and update take four bytes each
             pays where K ≥ 8 and 6·B·M / R ≤ 5·P
    device   K = ½·memory / 4·(4·W + 3·B·A)    A numbers that one sample's forward pass computes, kept for the backward

A client's step has a fixed cost of P seconds, which all K clients of an axis share. The arithmetic, 6·B·M operations
at R per second for B samples of M multiply-adds, gains nothing from the axis on a CPU, and large convolutions and
weights beyond the cache become slower. So clients train one by one where P is a small part of a step. The constants are
those of one core; `equipoise bench together` times both paths and reports whether the choice was right. A device works
on all K clients at once, so there its memory decides; if it runs out all the same, the axis is halved. Nothing is
measured when a run starts: the same configuration takes the same path, and gives the same bits, on equal machines.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from equipoise.models.frozen import Frozen

OVERHEAD = 1e-3
"""P, seconds."""
SPEED = 12e9
"""R, operations a second."""
CACHE = 32 * 2**20
"""C, bytes."""
LEAST, MOST = 8, 256
"""Clients on one axis."""
GROUPS = 4
"""Least number of parts of a cohort, so that every worker has something to do."""
ENOUGH = GROUPS * (LEAST - 1) + 1
"""Least number of clients in a cohort; with fewer, its parts are too small."""


def stacks(model: nn.Module) -> bool:
    """Whether a network can be mapped over clients: it has no running statistics, draws no noise, and has no part that
    the user brought, which may do anything."""
    apart = (nn.modules.batchnorm._BatchNorm, nn.modules.dropout._DropoutNd, Frozen)
    return not any(isinstance(module, apart) for module in model.modules())


def how_many(model: nn.Module, image: Tensor, batch: int, cohort: int) -> int:
    """Number of clients on one axis for that network; `image` is one sample as the network takes it, [1, …]."""
    weights = sum(param.numel() for param in model.parameters() if param.requires_grad)
    fitting = min(MOST, CACHE // (12 * max(1, weights)))
    seconds = 6 * batch * multiply_adds(model, image) / SPEED
    together = min(fitting, -(-cohort // GROUPS))
    return together if stacks(model) and together >= LEAST and seconds <= 5 * OVERHEAD else 1


def how_many_fit(model: nn.Module, image: Tensor, batch: int, cohort: int, memory: int) -> int:
    """Number of clients on one axis of a device with so many bytes of memory."""
    fitting = memory // 2 // client_bytes(model, image, batch)
    return max(1, min(MOST, fitting, cohort)) if stacks(model) else 1


def client_bytes(model: nn.Module, image: Tensor, batch: int) -> int:
    """Bytes that a client's step takes: weights, gradients and two buffers, and what the backward pass needs."""
    weights = sum(param.numel() for param in model.parameters())
    return 4 * (4 * weights + 3 * batch * activations(model, image))


def multiply_adds(model: nn.Module, image: Tensor) -> int:
    """Multiply-adds of one sample's forward pass, in linear layers and convolutions."""

    def count(module: nn.Module, output: Tensor) -> int:
        assert isinstance(module.weight, Tensor)
        return module.weight.numel() * output.numel() // module.weight.shape[0]

    return _counted(model, image, lambda module: isinstance(module, (nn.Linear, nn.Conv2d)), count)


def activations(model: nn.Module, image: Tensor) -> int:
    """Numbers that the layers of a network compute for one sample."""
    return _counted(model, image, lambda module: not list(module.children()), lambda _, output: output.numel())


def _counted(
    model: nn.Module,
    image: Tensor,
    counts: Callable[[nn.Module], bool],
    count: Callable[[nn.Module, Tensor], int],
) -> int:
    """The sum of `count` over some layers, in one forward pass that changes nothing."""
    found = 0

    def add(module: nn.Module, inputs: tuple[Tensor, ...], output: object) -> None:
        nonlocal found
        found += count(module, output) if isinstance(output, Tensor) else 0

    hooks = [module.register_forward_hook(add) for module in model.modules() if counts(module)]
    was_training = model.training
    with torch.inference_mode():
        model.eval()(image)
    model.train(was_training)
    for hook in hooks:
        hook.remove()
    return found
