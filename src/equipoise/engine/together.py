"""How many clients train along one axis: as many as pay.

    alone      P + 6·B·M / R                              seconds a step of one client
    together   P / K + 6·B·M / R' + 4·W·T / S             each of K clients

M multiply-adds an image, B images a batch, W weights. P is what a step costs before anything is computed, R the speed
of arithmetic, S that of memory, T how often a step touches every weight. Along an axis small products are slower (R'),
and convolutions become grouped ones, which are slower still. The constants are those of one core; `equipoise bench
together` measures both sides for some models and says whether the choice was right. Nothing is measured when a run
starts: the same configuration takes the same path, and gives the same bits, on every machine.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

OVERHEAD = 600e-6
"""P, seconds."""
SPEED, SPEED_TOGETHER, SPEED_GROUPED = 20e9, 10e9, 4e9
"""R, and R' for products and for convolutions, operations a second."""
TOUCHES, MEMORY = 12, 6e9
"""T, and S in bytes a second."""
MOST, LEAST_GROUPS = 256, 4
"""Clients on one axis at most, and groups in a cohort at least, so that every worker has something to do."""
GAIN = 1.2
"""Together has to be so many times faster."""


def stacks(model: nn.Module) -> bool:
    """Whether a network can be mapped over clients: no statistics that training changes, no noise of its own."""
    apart = (nn.modules.batchnorm._BatchNorm, nn.modules.dropout._DropoutNd)
    return not any(isinstance(module, apart) for module in model.modules())


def pays(model: nn.Module, image: Tensor, batch: int) -> bool:
    """Whether clients of that network should train together; `image` is one as the network sees it, [1, …]."""
    if not stacks(model):
        return False
    products, grouped = multiply_adds(model, image)
    weights = sum(param.numel() for param in model.parameters() if param.requires_grad)
    alone = OVERHEAD + 6 * batch * (products + grouped) / SPEED
    arithmetic = 6 * batch * (products / SPEED_TOGETHER + grouped / SPEED_GROUPED)
    together = OVERHEAD / MOST + arithmetic + 4 * weights * TOUCHES / MEMORY
    return alone > GAIN * together


def multiply_adds(model: nn.Module, image: Tensor) -> tuple[int, int]:
    """Of one image's forward pass: in linear layers, and in convolutions."""
    found = {nn.Linear: 0, nn.Conv2d: 0}

    def count(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        weight = module.weight
        assert isinstance(weight, Tensor)
        positions = output.numel() // weight.shape[0]
        found[nn.Linear if isinstance(module, nn.Linear) else nn.Conv2d] += weight.numel() * positions

    layers = [module for module in model.modules() if isinstance(module, (nn.Linear, nn.Conv2d))]
    hooks = [layer.register_forward_hook(count) for layer in layers]
    was_training = model.training
    with torch.inference_mode():
        model.eval()(image)
    model.train(was_training)
    for hook in hooks:
        hook.remove()
    return found[nn.Linear], found[nn.Conv2d]
