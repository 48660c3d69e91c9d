"""Ask machines that bring their own data what they hold, before a run is built on it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.config.schema import Config
from equipoise.core.errors import EngineError, PartitionError
from equipoise.core.notices import Waiting
from equipoise.engine.flower.link import Link
from equipoise.engine.flower.machine import versions
from equipoise.engine.flower.parcel import Parcel
from equipoise.engine.settings import FlowerOptions
from equipoise.partition.machines import MachinesOptions, Told, with_told

LOOK_SECONDS = 2.0


def met(config: Config, classes: Sequence[str], shape: Sequence[int]) -> Config:
    """The configuration with what the machines told about their data."""
    options, partition = config.engine, config.partition
    assert isinstance(options, FlowerOptions)
    assert isinstance(partition, MachinesOptions)
    link = Link(options)
    try:
        said = _said(link, config, classes)
    finally:
        link.close()
    refused = [f"machine {name}: {header['refused']}" for name, header in said.items() if "refused" in header]
    refused += [
        f"machine {name}: its samples have the shape {header['shape']}, and the driver's {list(shape)}"
        for name, header in said.items()
        if header.get("shape", list(shape)) != list(shape)
    ]
    if refused:
        text = "\n  ".join(refused)
        fix = "correct these machines, or stop `equipoise join` there"
        raise PartitionError(
            f"{len(refused)} machines cannot take part:\n  {text}", where="partition=machines", fix=fix
        )
    told = {name: Told(counts=header["counts"], digest=header["digest"]) for name, header in said.items()}
    return config.model_copy(update={"partition": with_told(partition, tuple(classes), told)})


def _said(link: Link, config: Config, classes: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Machine → its answer, once everybody who is there has answered and there are as many as wanted."""
    options = config.engine
    assert isinstance(options, FlowerOptions)
    told = json.loads(config.model_dump_json())
    asked = Parcel({"do": "own", "versions": versions(), "config": told, "classes": list(classes)})
    names: dict[int, str] = {}
    waiting: dict[str, int] = {}
    said: dict[str, Mapping[str, Any]] = {}
    patience, looked = Waiting(options.patience), 0.0
    wanted = options.machines or config.partition.clients or 1
    while waiting or not said or len(said) < wanted:
        patience.for_(
            f"machines: {len(said)} of {wanted} have said what they hold ({', '.join(sorted(said)) or 'none'})"
        )
        if patience.is_over:
            missing = ", ".join(names[node] for node in waiting.values()) or "machines"
            fix = "`equipoise federation status` lists who is there"
            raise EngineError(f"waited {options.patience:g} s for {missing}", where="partition=machines", fix=fix)
        if time.monotonic() - looked > LOOK_SECONDS:
            looked, here = time.monotonic(), link.machines()
            waiting |= link.post({node: asked for node in here if node not in names})
            names |= here
        for reply in link.collect(waiting):
            node = waiting.pop(reply.message)
            said[names[node]] = {"refused": reply.error} if reply.parcel is None else reply.parcel.header
        time.sleep(options.poll)
    return said
