"""FedBN: BatchNorm stays at home, its weights and its statistics; everything else is averaged.

base = cls        align = 0        λ = 0        merge = mean by samples, of all but BatchNorm
predict = none: every client's own model is the result
Source: Li et al., "FedBN: Federated Learning on Non-IID Features via Local Batch Normalization", 2021.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from equipoise.config.blocks import MethodOptions
from equipoise.config.traits import MERGES_NOTHING, NEEDS_ROUNDS
from equipoise.core.errors import ConfigError
from equipoise.core.registry import METHODS
from equipoise.method.answers import Exchange, Method

if TYPE_CHECKING:
    from torch import nn


@METHODS.register("fedbn", options=MethodOptions, traits=(MERGES_NOTHING, NEEDS_ROUNDS))
def fedbn(options: MethodOptions) -> Method:
    return Method(predict=None, exchange=Exchange(personal=batch_norm))


def batch_norm(model: nn.Module) -> list[str]:
    """The names of its weights, running statistics and counters."""
    from torch.nn.modules.batchnorm import _BatchNorm

    layers = {name: module for name, module in model.named_modules() if isinstance(module, _BatchNorm)}
    if not layers:
        what = "method 'fedbn' keeps BatchNorm at home, and this model has none"
        raise ConfigError(what, where="model", fix="set model.norm=batch, or choose a model with BatchNorm (resnet8)")
    return [f"{name}.{part}" for name, layer in layers.items() for part in layer.state_dict()]
