"""Load a picture encoder that torch.export.save wrote: float32 [B, 3, H, W] in [0, 1] → [B, d].

H and W are those of the example input. If a program needs a fixed batch size or at least two pictures, the last picture
is repeated and its extra rows are cut off. The file is run only if it holds nothing but tensors and a graph: pickled
objects and compiled libraries can run any code when loaded, and are refused.
"""

from __future__ import annotations

import io
import json
import pickle
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.core.errors import DataError
from equipoise.data.cache import file_digest
from equipoise.data.columns import first_line
from equipoise.features.encoders import Encoder, as_rows
from equipoise.features.lift import Matrix
from equipoise.features.pictures import pixels_of

if TYPE_CHECKING:
    from torch.export import ExportedProgram

MOST = 1 << 16
WRITE = "write it with torch.export.save, of a module that takes one float32 tensor [B, 3, H, W]"
_PARTS = re.compile(
    r"[^/]+/(archive_format|archive_version|byteorder|\.data/\w+|models/model\.json|data/sample_inputs/model\.pt"
    r"|data/weights/(weight_\d+|model_weights_config\.json)|data/constants/(tensor_\d+|model_constants_config\.json))"
)


@dataclass(frozen=True)
class Takes:
    """The input of a program: smallest and largest batch, and size of a picture."""

    least: int
    most: int
    height: int
    width: int


def exported_encoder(path: Path, device: str = "cpu") -> Encoder[Path]:
    import torch
    from torch.export.passes import move_to_device_pass

    program = load_program(path)
    takes, there = taken_by(program, path), torch.device(device)
    module = (program if there.type == "cpu" else move_to_device_pass(program, there)).module()

    def encode(pictures: list[Any]) -> Matrix:
        parts = [pictures[at : at + takes.most] for at in range(0, len(pictures), takes.most)]
        return np.concatenate([part_rows(part) for part in parts])

    def part_rows(part: list[Any]) -> Matrix:
        padded = part + part[-1:] * (takes.least - len(part))
        try:
            with torch.inference_mode():
                output = module(torch.from_numpy(np.stack(padded)).to(there))
        except (RuntimeError, AssertionError, TypeError) as error:
            raise _unfit(path, f"failed on {len(padded)} pictures ({first_line(error)})") from error
        return as_rows(output, len(padded), path.name)[: len(part)]

    def read(file: Path) -> Matrix:
        return pixels_of(file, takes.height, takes.width)

    return Encoder(path.name, file_digest(path, "sha256")[:40], read, encode)


def load_program(path: Path) -> ExportedProgram:
    import torch

    if not path.is_file():
        raise DataError(f"there is no encoder file {path}", where=str(path), fix=WRITE)
    try:
        _require_plain(path)
        return torch.export.load(path)
    except (OSError, zipfile.BadZipFile, RuntimeError, AssertionError, ValueError, KeyError) as error:
        raise _unfit(path, f"is not a whole file of torch.export.save ({first_line(error)})") from error


def _require_plain(path: Path) -> None:
    """Refuse what torch would unpickle or load as a library."""
    import torch

    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        foreign = [name for name in names if not _PARTS.fullmatch(name)]
        if foreign or len(set(names)) < len(names) or len({name.split("/")[0] for name in names}) != 1:
            raise _unfit(path, f"holds more than tensors and a graph: {', '.join(foreign[:3]) or 'a name twice'}")
        for name in (name for name in names if name.endswith("_config.json")):
            config = json.loads(archive.read(name))["config"]
            if any(entry["use_pickle"] for entry in config.values()):
                raise _unfit(path, "holds pickled objects")
        for name in (name for name in names if name.endswith("/model.pt")):
            try:
                torch.load(io.BytesIO(archive.read(name)), weights_only=True)
            except pickle.UnpicklingError as error:
                raise _unfit(path, "has an example input that is not plain tensors") from error


def taken_by(program: ExportedProgram, path: Path) -> Takes:
    """The input of a program, from its example input and the bounds of its batch."""
    import torch

    positional, named = program.example_inputs or ((), {})
    inputs = [*positional, *named.values()]
    example = inputs[0] if len(positional) == len(inputs) == 1 else None
    if not isinstance(example, torch.Tensor) or example.ndim != 4 or example.shape[1] != 3:
        found = list(example.shape) if isinstance(example, torch.Tensor) else f"{len(inputs)} inputs"
        raise _unfit(path, f"takes {found}, not [B, 3, H, W]")
    if example.dtype != torch.float32:
        raise _unfit(path, f"takes {example.dtype}, not float32")
    least, most = _bounds(program)
    return Takes(least, most, example.shape[2], example.shape[3])


def _bounds(program: ExportedProgram) -> tuple[int, int]:
    """The smallest and largest batch; equal if the program was exported for one size."""
    (name,) = program.graph_signature.user_inputs
    (node,) = (node for node in program.graph.nodes if node.op == "placeholder" and node.name == name)
    size = node.meta["val"].shape[0]
    if isinstance(size, int):
        return size, size
    bounds = program.range_constraints.get(size.node.expr)
    if bounds is None:
        return 1, MOST
    return max(1, int(bounds.lower)), MOST if bounds.upper > MOST else int(bounds.upper)


def _unfit(path: Path, why: str) -> DataError:
    return DataError(f"the encoder {path.name} {why}", where=str(path), fix=WRITE)
