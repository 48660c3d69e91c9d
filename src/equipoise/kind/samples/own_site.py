"""A machine's own data as the site of one client: what it reads from its folder, in the federation's classes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.config.schema import Config
from equipoise.core.errors import DataError
from equipoise.core.values import Samples
from equipoise.data.splits import load_labelled
from equipoise.kind.samples.site import SampleSite
from equipoise.method.resolve import resolve
from equipoise.partition.machines import MachinesOptions


def own_samples(config: Config, folder: Path | None, classes: Sequence[str]) -> Samples:
    """The training part of the machine's set, with labels renumbered by the names of the federation's classes."""
    found = load_labelled(config.data, folder)
    strange = [name for name in found.classes if name not in classes]
    if strange:
        what = f"{len(strange)} of its classes are not the federation's, as '{strange[0]}'"
        fix = f"the federation's classes are {', '.join(classes[:10])}{', …' if len(classes) > 10 else ''}"
        raise DataError(what, where="this machine's data", fix=fix)
    number = np.array([list(classes).index(name) for name in found.classes], dtype=np.int64)
    return Samples(found.train.inputs, number[found.train.labels])


def told_of(samples: Samples, n_classes: int) -> dict[str, Any]:
    """What a driver learns of them: counts, shape, and a hash by which changed data is noticed."""
    found = hashlib.blake2b(np.ascontiguousarray(samples.labels).tobytes(), digest_size=16)
    found.update(np.ascontiguousarray(samples.inputs).data)
    counts = np.bincount(samples.labels, minlength=n_classes).tolist()
    return {"counts": counts, "digest": found.hexdigest(), "shape": list(samples.inputs.shape[1:])}


def own_site(config: Config, samples: Samples, name: str, inputs: Mapping[str, Any]) -> SampleSite:
    """The site of machine `name`. `inputs` are the driver's facts on how samples enter the network: the constants that
    normalise them must be the same everywhere."""
    options = config.partition
    assert isinstance(options, MachinesOptions)
    if name not in options.told:
        raise DataError(f"machine {name} was not asked when the run began", where="partition.told", fix="a new run")
    nobody, everything = np.empty(0, dtype=np.int64), np.arange(len(samples))
    indices = [everything if client == name else nobody for client in options.ids]
    read = config.kind.load("inputs")(**inputs)
    return SampleSite(config, resolve(config), samples, indices, len(options.classes), read)
