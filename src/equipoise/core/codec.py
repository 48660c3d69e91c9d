"""Tensors and plain values ⇄ bytes, without pickle: a safetensors body with a JSON header inside its metadata.

Safetensors keeps tensors only; everything else in a message (numbers, names, ranges) is JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from equipoise.core.errors import EngineError

Message = tuple[dict[str, Any], dict[str, Tensor]]


def encode(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> bytes:
    body = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    return save(body, metadata={"header": json.dumps(header)})


def decode(data: bytes) -> Message:
    try:
        size = int.from_bytes(data[:8], "little")
        header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["header"])
        return header, load(data)
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"a message of {len(data)} bytes is not one of ours: {error}"
        raise EngineError(what, where="codec") from error


def flatten(groups: Mapping[str, Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """{"model": {"w": t}} → {"model/w": t}."""
    return {f"{group}/{name}": tensor for group, state in groups.items() for name, tensor in state.items()}


def unflatten(tensors: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    groups: dict[str, dict[str, Tensor]] = {}
    for path, tensor in tensors.items():
        group, name = path.split("/", 1)
        groups.setdefault(group, {})[name] = tensor
    return groups


def unstacked(tensors: Mapping[str, Tensor], n: int) -> list[dict[str, Tensor]]:
    """The tensors of each of `n` clients, as views of tensors that have a leading client axis."""
    rows = zip(*(tensor.unbind() for tensor in tensors.values()), strict=True)
    return [dict(zip(tensors, row, strict=True)) for row in rows] if tensors else [{} for _ in range(n)]


__all__ = ["Message", "decode", "encode", "flatten", "unflatten", "unstacked"]
