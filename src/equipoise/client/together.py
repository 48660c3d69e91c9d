"""How many clients train along one axis: as many as their weights fit into a core's cache, where that pays.

    K = C / (12·W)                    W weights; each is there with its gradient and its update, four bytes apiece
    pays where K ≥ 8 and 6·B·M / R ≤ 5·P

A step of a client costs P seconds before anything is computed, and along an axis they are paid once for all K. The
arithmetic, 6·B·M operations at R a second for B images of M multiply-adds, gains nothing there, and large convolutions
and weights that no longer fit into the cache lose: where P is a small part of a step, clients train one by one. The
constants are those of one core; `equipoise bench together` times both ways and says whether the choice was right.
Nothing is measured when a run starts: the same configuration takes the same path, and gives the same bits, everywhere.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

OVERHEAD = 1e-3
"""P, seconds."""
SPEED = 12e9
"""R, operations a second."""
CACHE = 32 * 2**20
"""C, bytes."""
LEAST, MOST = 8, 256
"""Clients on one axis."""
GROUPS = 4
"""Parts of a cohort at least, so that every worker has something to do."""
ENOUGH = GROUPS * (LEAST - 1) + 1
"""Clients in a cohort below which none of its parts is large enough."""


def stacks(model: nn.Module) -> bool:
    """Whether a network can be mapped over clients: no statistics that training changes, no noise of its own."""
    apart = (nn.modules.batchnorm._BatchNorm, nn.modules.dropout._DropoutNd)
    return not any(isinstance(module, apart) for module in model.modules())


def how_many(model: nn.Module, image: Tensor, batch: int, cohort: int) -> int:
    """Clients of that network on one axis; `image` is one as the network sees it, [1, …]."""
    weights = sum(param.numel() for param in model.parameters() if param.requires_grad)
    fitting = min(MOST, CACHE // (12 * max(1, weights)))
    seconds = 6 * batch * multiply_adds(model, image) / SPEED
    together = min(fitting, -(-cohort // GROUPS))
    return together if stacks(model) and together >= LEAST and seconds <= 5 * OVERHEAD else 1


def multiply_adds(model: nn.Module, image: Tensor) -> int:
    """Of one image's forward pass, in linear layers and convolutions."""
    found = 0

    def count(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        nonlocal found
        assert isinstance(module.weight, Tensor)
        found += module.weight.numel() * output.numel() // module.weight.shape[0]

    layers = [module for module in model.modules() if isinstance(module, (nn.Linear, nn.Conv2d))]
    hooks = [layer.register_forward_hook(count) for layer in layers]
    was_training = model.training
    with torch.inference_mode():
        model.eval()(image)
    model.train(was_training)
    for hook in hooks:
        hook.remove()
    return found
