"""Load encoders by name; an encoder turns a batch of texts or pictures into rows.

    text      a sentence-transformers model, by name or by folder
    pictures  FILE.pt2, written by torch.export.save, or open_clip:MODEL/PRETRAINED

The libraries are optional and are imported where they are used. Everything runs on the CPU.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from equipoise.core.errors import ConfigError, DataError, MissingExtra, Problem
from equipoise.data.cache import content_key
from equipoise.data.columns import first_line
from equipoise.features.lift import Matrix
from equipoise.features.pictures import open_picture

T = TypeVar("T")
INSTALL = "pip install 'equipoise[features]'"
CLIP = "open_clip:"


@dataclass(frozen=True)
class Encoder(Generic[T]):
    """`read` prepares the content of one item or raises DataError; `encode` turns a batch of them into [B, d]."""

    name: str
    fingerprint: str
    """A digest of the weights; equal for equal encoders."""
    read: Callable[[T], Any]
    encode: Callable[[list[Any]], Matrix]


def text_encoder(name: str, device: str = "cpu") -> Encoder[str]:
    """A model of sentence-transformers: a folder that it saved, otherwise a name that it knows."""
    folder = Path(name).expanduser()
    is_folder = folder.exists() or name.startswith((".", "/", "~"))
    if is_folder and not (folder / "modules.json").is_file():
        what = f"there is no sentence-transformers model in {folder}"
        raise DataError(
            what, where=f"looked for {folder / 'modules.json'}", fix="name the folder that model.save wrote"
        )
    model = _sentence_model(str(folder) if is_folder else name, device)
    fingerprint = content_key(_files(folder)) if is_folder else weights_digest(model.state_dict())
    known_as = folder.resolve().name if is_folder else name

    def encode(texts: list[Any]) -> Matrix:
        rows = model.encode(texts, batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True)
        return as_rows(rows, len(texts), known_as)

    return Encoder(known_as, fingerprint, str, encode)


def _files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.rglob("*") if path.is_file()))


def _sentence_model(name: str, device: str) -> Any:
    """The model; whatever it raises is caught, because its tokenizers raise a bare Exception for a damaged file."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise missing("sentence-transformers", error) from error
    try:
        return SentenceTransformer(name, device=device)
    except Exception as error:
        what = f"sentence-transformers cannot load '{name}' ({first_line(error)})"
        fix = "check the name; without a network, save the model elsewhere and give its folder"
        raise DataError(what, where="--encoder", fix=fix) from error


def image_encoder(name: str, device: str = "cpu") -> Encoder[Path]:
    """A program in a .pt2 file, or a model of open_clip."""
    if name.startswith(CLIP):
        return _clip(name, device)
    if not name.endswith(".pt2"):
        message = f"'{name}' is neither a file ENCODER.pt2 nor {CLIP}MODEL/PRETRAINED"
        raise ConfigError([Problem("--encoder", message)], fix="write a file with torch.export.save")
    from equipoise.features.exported import exported_encoder

    return exported_encoder(Path(name).expanduser(), device)


def _clip(name: str, device: str) -> Encoder[Path]:
    """A model of open_clip with its own preprocessing."""
    model_name, _, pretrained = name.removeprefix(CLIP).partition("/")
    if not model_name or not pretrained:
        message = f"'{name}' lacks its weights: expected {CLIP}MODEL/PRETRAINED, as in {CLIP}ViT-B-32/openai"
        raise ConfigError([Problem("--encoder", message)])
    try:
        import open_clip
        import torch
    except (ImportError, RuntimeError) as error:  # a torchvision of another build raises RuntimeError when imported
        raise missing("open_clip", error) from error
    try:
        model, _, prepare = open_clip.create_model_and_transforms(model_name, pretrained=pretrained)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        what = f"open_clip cannot load '{name}' ({first_line(error)})"
        raise DataError(what, where="--encoder", fix="see open_clip.list_pretrained()") from error
    digest, there = weights_digest(model.state_dict()), torch.device(device)
    model.eval().to(there)

    def encode(pictures: list[Any]) -> Matrix:
        with torch.inference_mode():
            return as_rows(model.encode_image(torch.stack(pictures).to(there)), len(pictures), name)

    return Encoder(name, digest, lambda file: prepare(open_picture(file)), encode)


def missing(library: str, error: Exception) -> MissingExtra:
    what = f"this encoder needs {library}, which cannot be imported: {first_line(error)}"
    return MissingExtra(what, where="--encoder", fix=INSTALL)


def weights_digest(state: Mapping[str, Any]) -> str:
    """SHA-256 of the names, types, shapes and bytes of tensors."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:40]


def as_rows(output: object, n: int, name: str) -> Matrix:
    """The output of an encoder as float32 [n, d], d ≥ 2; anything else is a DataError."""
    import torch

    if isinstance(output, torch.Tensor):
        output = output.detach().cpu()
        output = output.float().numpy() if output.is_floating_point() else output.numpy()
    if isinstance(output, np.ndarray):
        is_matrix = output.dtype.kind == "f" and output.ndim == 2 and len(output) == n
        if is_matrix and output.shape[1] >= 2:
            return output.astype(np.float32, copy=False)
    found = f"{output.dtype} {list(output.shape)}" if isinstance(output, np.ndarray) else f"a {type(output).__name__}"
    what = f"the encoder {name} gave {found} for {n} items; features are floats [{n}, d], d ≥ 2"
    raise DataError(what, where="--encoder", fix="give an encoder whose only output is one row per item")
