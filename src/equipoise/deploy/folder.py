"""Writes a model as a folder: weights.safetensors, card.json, and either model.py or model.onnx.

Everything is written beside the folder first, tested there, and then renamed, so the folder is complete or absent.
"""

from __future__ import annotations

import importlib.util
import json
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import torch
from safetensors.torch import save_file

from equipoise.core.errors import ConfigError, EngineError
from equipoise.core.torch_settings import kept_torch_settings
from equipoise.deploy.model_file import model_file
from equipoise.deploy.onnx_file import require_onnx, run_onnx, save_onnx
from equipoise.deploy.parts import Parts, parts_of
from equipoise.store.database import Store
from equipoise.store.records import Run

WEIGHTS, CARD, MODEL, ONNX = "weights.safetensors", "card.json", "model.py", "model.onnx"
Of = tuple[int | None, Path | None]
"""The model's owner (None: the server), and the data folder (None: the one that the run used)."""
USE = {
    MODEL: "from model import load; model = load(); probabilities = model(samples)",
    ONNX: "onnxruntime.InferenceSession('model.onnx').run(['probabilities'], {'samples': samples})",
}


def write_model(
    store: Store, runs: Sequence[Run], to: Literal["torch", "onnx"], folder: Path, of: Of = (None, None)
) -> list[Path]:
    """Write the model of the one named run; returns the files. `of`: a client, and the data folder."""
    if len(runs) != 1:
        what = f"{len(runs)} runs were named, and a folder holds the model of one"
        raise ConfigError(what, where="--to", fix="name one run at a time")
    return (write_torch if to == "torch" else write_onnx)(store, runs[0], folder, *of)


def write_torch(
    store: Store, run: Run, folder: Path, client: int | None = None, data_path: Path | None = None
) -> list[Path]:
    """weights.safetensors, card.json and a model.py that needs only torch and safetensors."""

    _require_text(run)

    def fill(parts: Parts, here: Path) -> None:
        save_file(dict(parts.tensors), here / WEIGHTS)
        (here / MODEL).write_text(model_file(parts), encoding="utf-8")
        _write_card(here / CARD, {**parts.card, "use": USE[MODEL]})
        with torch.no_grad():
            parts.require_equal(_imported(here / MODEL).load(here)(parts.samples), MODEL)

    return _written(store, run, folder, (client, data_path), fill)


def write_onnx(
    store: Store, run: Run, folder: Path, client: int | None = None, data_path: Path | None = None
) -> list[Path]:
    """model.onnx, whose batch size is free, and card.json."""

    def fill(parts: Parts, here: Path) -> None:
        save_onnx(parts, here / ONNX)
        _write_card(here / CARD, {**parts.card, "use": USE[ONNX]})
        parts.require_equal(run_onnx(here / ONNX, parts.samples), ONNX)

    require_onnx()
    return _written(store, run, folder, (client, data_path), fill)


def _written(store: Store, run: Run, folder: Path, of: Of, fill: Callable[[Parts, Path], None]) -> list[Path]:
    _require_free(folder)
    parts = parts_of(store, run, *of)
    with kept_torch_settings(), _whole(folder) as here:
        fill(parts, here)
        names = sorted(path.name for path in here.iterdir() if path.is_file())
    return [folder / name for name in names]


def _require_text(run: Run) -> None:
    """A network of the user's own is code and weights that are not ours to copy into a file."""
    if run.config["model"]["name"] == "backbone":
        what = f"the backbone of run '{run.run_id}' is code and weights of yours, which model.py would not contain"
        fix = "--to onnx writes all of it; in Python, eq.open_run(RUN).model() gives the module, from your files"
        raise ConfigError(what, where="--to torch", fix=fix)


def _require_free(folder: Path) -> None:
    is_folder = folder.is_dir()
    if is_folder and any(folder.iterdir()):
        raise ConfigError(f"folder {folder} is not empty", where="--output", fix="give another place, or empty it")
    if folder.exists() and not is_folder:
        raise ConfigError(f"{folder} is a file", where="--output", fix="give the name of a folder")


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A temporary folder to fill, renamed at the end; nothing is left if something fails."""
    here = folder.parent / f".{folder.name}-{secrets.token_hex(4)}"
    try:
        here.mkdir(parents=True)
        yield here
        here.replace(folder)  # replaces an empty folder of that name
    except OSError as error:
        raise ConfigError(f"cannot write {folder}: {error}", where="--output", fix="give another place") from error
    finally:
        shutil.rmtree(here, ignore_errors=True)


def _write_card(path: Path, card: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _imported(path: Path) -> ModuleType:
    """The file as a module, not added to sys.modules."""
    name = f"equipoise_exported_{secrets.token_hex(4)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name], written = module, sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        what = f"the file of the model cannot be imported: {type(error).__name__}: {error}"
        raise EngineError(
            what, where=MODEL, fix="a plugin's code must stand by itself, without this process"
        ) from error
    finally:
        sys.dont_write_bytecode = written
        del sys.modules[name]
    return module
