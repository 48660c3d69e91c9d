"""Smaller messages: zstd without loss, both ways; or what clients send up, rounded.

    fp16    x̂ = half(x)                          |x − x̂| ≤ 2⁻¹¹ |x|         a tensor beyond ±65504 stays as it is
    int8    x̂ = s · round(x / s), s = max|x| / 127    |x − x̂| ≤ s / 2            one scale s per tensor

Only floating tensors of models are rounded: not the clients' own state, not reports, not sums. The largest error of a
message travels with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.core.codec import decode, encode
from equipoise.core.errors import EngineError

LEVEL, MOST_GROWTH = 3, 2**32
MODELS = ("model", "sent")
"""Groups of a result's tensors that are rounded."""
LARGEST = 65504.0
"""The largest number of half precision."""
ROUNDED, SCALE = "rounded", "/scale"


@dataclass(frozen=True)
class Packed:
    """A body as it travels, and the largest error of its numbers."""

    body: bytes
    error: float = 0.0


def closed(body: bytes, how: str) -> Packed:
    """A message of results as `engine.compress` wants it; rounded ones are squeezed too."""
    if how == "none":
        return Packed(body)
    found = Packed(body) if how == "zstd" else rounded(body, how)
    return Packed(squeezed(found.body), found.error)


def opened(body: bytes, how: str) -> bytes:
    if how == "none":
        return body
    whole = unsqueezed(body)
    return whole if how == "zstd" else unrounded(whole)


def squeezed(body: bytes) -> bytes:
    import zstandard

    return bytes(zstandard.ZstdCompressor(level=LEVEL).compress(body))


def unsqueezed(body: bytes) -> bytes:
    """What was squeezed; refused if it is not that, or would fill the memory."""
    import zstandard

    try:
        size = zstandard.get_frame_parameters(body).content_size
        if size > MOST_GROWTH:
            raise EngineError(f"a message would have {size / 2**30:.1f} GiB", where="engine.compress")
        return bytes(zstandard.ZstdDecompressor().decompress(body, max_output_size=MOST_GROWTH))
    except zstandard.ZstdError as error:
        raise EngineError(f"a message cannot be decompressed: {error}", where="engine.compress") from error


def rounded(body: bytes, how: str) -> Packed:
    """A message of results with the tensors of its models rounded."""
    header, tensors = decode(body)
    kept: dict[str, Tensor] = {}
    names, error = {}, 0.0
    for name, tensor in tensors.items():
        small, scale = _small(tensor, how) if _is_of_model(name) and tensor.dtype == torch.float32 else (tensor, None)
        kept[name] = small
        if scale is not None:
            kept[name + SCALE] = scale
        if small is not tensor:
            names[name] = how
            error = max(error, float((tensor - _whole(small, scale)).abs().max())) if tensor.numel() else error
    return Packed(encode({**header, ROUNDED: list(names)}, kept), error)


def unrounded(body: bytes) -> bytes:
    header, tensors = decode(body)
    names = header.pop(ROUNDED, [])
    if not isinstance(names, list) or any(name not in tensors for name in names):
        raise EngineError("a message names rounded tensors that it does not have", where="engine.compress")
    scales = {name: tensors.pop(name + SCALE) for name in names if name + SCALE in tensors}
    return encode(header, {**tensors, **_restored(tensors, names, scales)})


def _restored(tensors: Mapping[str, Tensor], names: list[str], scales: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: _whole(tensors[name], scales.get(name)) for name in names}


def _small(tensor: Tensor, how: str) -> tuple[Tensor, Tensor | None]:
    largest = float(tensor.abs().max()) if tensor.numel() else 0.0
    if how == "fp16":
        return (tensor.half(), None) if largest <= LARGEST else (tensor, None)
    if not 0 < largest < float("inf"):  # zeros need no scale; what is not finite is refused by the server
        return tensor, None
    scale = torch.tensor(largest / 127)
    return (tensor / scale).round().to(torch.int8), scale


def _whole(tensor: Tensor, scale: Tensor | None) -> Tensor:
    return tensor.float() if scale is None else tensor.float() * scale


def _is_of_model(name: str) -> bool:
    """Names are like "0:model/weight" and "all:sent/weight"."""
    return name.partition(":")[2].partition("/")[0] in MODELS
