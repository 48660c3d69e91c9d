"""Shared by methods whose clients keep one number per weight, which is zero before their first task."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipoise.core.values import State


def zeros(prefix: str) -> Callable[[State], State]:
    """`prefix` stands before the name of each weight."""

    def begin(model: State) -> State:
        import torch

        from equipoise.server.optimise import trainable

        return {prefix + name: torch.zeros_like(model[name]) for name in trainable(model)}

    return begin
