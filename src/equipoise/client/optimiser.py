"""The local optimiser, and its buffers as plain named tensors, so that a client can be put down and taken up again."""

from __future__ import annotations

import torch
from torch import nn

from equipoise.config.blocks import ClientOptions
from equipoise.core.values import State
from equipoise.models.build import contiguous_copy


def make_optimiser(model: nn.Module, options: ClientOptions) -> torch.optim.Optimizer:
    params = list(model.parameters())
    if options.optimiser == "adamw":
        betas = (options.momentum, 0.999)
        return torch.optim.AdamW(params, lr=options.lr, betas=betas, weight_decay=options.weight_decay)
    return torch.optim.SGD(params, lr=options.lr, momentum=options.momentum, weight_decay=options.weight_decay)


def buffers_of(optimiser: torch.optim.Optimizer, model: nn.Module) -> State:
    """{"momentum_buffer/head.weight": tensor, …}"""
    return {
        f"{key}/{name}": contiguous_copy(value)
        for name, param in model.named_parameters()
        for key, value in optimiser.state[param].items()
        if value is not None
    }


def restore_buffers(optimiser: torch.optim.Optimizer, model: nn.Module, buffers: State) -> None:
    """Each buffer in the memory layout of its weight: a step on another layout may round differently."""
    params = dict(model.named_parameters())
    for path, tensor in buffers.items():
        key, name = path.split("/", 1)
        param = params[name]
        like = param if tensor.shape == param.shape else tensor
        optimiser.state[param][key] = torch.empty_like(like, dtype=tensor.dtype, requires_grad=False).copy_(tensor)
