"""Writes a model as an ONNX file that takes stored samples and returns probabilities, for any batch size."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from equipoise.core.errors import EngineError, MissingExtra
from equipoise.deploy.parts import Parts
from equipoise.deploy.predictor import assemble

PACKAGES = ("onnx", "onnxscript", "onnxruntime")
OPSET = 20


def require_onnx() -> None:
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        what = f"a model as ONNX needs {', '.join(missing)}, which is not installed"
        raise MissingExtra(what, where="--to onnx", fix="pip install 'equipoise[onnx]'")


def save_onnx(parts: Parts, path: Path) -> None:
    """Trace with torch's exporter; results that depend on the clients alone become constants."""
    model = assemble(parts.card, parts.tensors, parts.makers).requires_grad_(False)
    try:
        with quiet(), Distances():
            torch.onnx.export(
                model,
                (parts.samples[:2],),
                path,
                dynamo=True,
                opset_version=OPSET,
                input_names=["samples"],
                output_names=["probabilities"],
                dynamic_shapes=({0: torch.export.Dim("N")},),
                external_data=False,
                verbose=False,
            )
    except Exception as error:  # the exporter's own errors, and operations of a predictor that cannot be traced
        what = f"torch's ONNX exporter cannot express '{parts.card['predict']}' with '{parts.card['model']['name']}'"
        raise EngineError(f"{what}: {_cause(error)}", where="--to onnx", fix="use --to torch") from error


class Distances(TorchFunctionMode):
    """Distances as a formula: the exporter does not know torch.cdist, which also uses another path for few samples."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.cdist:
            a, b = args
            return (a[..., :, None, :] - b[..., None, :, :]).square().sum(-1).sqrt()
        return func(*args, **(kwargs or {}))


def _cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"


def run_onnx(path: Path, samples: Tensor) -> Tensor:
    import onnxruntime

    session: Any = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    (found,) = session.run(["probabilities"], {"samples": samples.numpy()})
    return torch.from_numpy(found)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the exporter's messages about its internal steps."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
