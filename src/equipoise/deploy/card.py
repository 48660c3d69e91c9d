"""The card of a model: the run it comes from, its inputs and outputs, and the recorded accuracy."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from equipoise import __version__
from equipoise.core.values import ClientUpdate
from equipoise.deploy.finished import FinishedRun
from equipoise.evaluate.judge import SampleJudge
from equipoise.kind.samples.site import SampleSite
from equipoise.store import read
from equipoise.store.database import Store
from equipoise.store.metrics import Who

FORMAT = "equipoise-model/1"


@dataclass(frozen=True)
class Way:
    """The model's predictor, its owner (None: the server), and the predictor's question."""

    predict: str
    client: int | None
    models: Sequence[str]
    clients: Sequence[ClientUpdate]


def card_of(store: Store, found: FinishedRun, way: Way) -> dict[str, Any]:
    clients = [{"client": each.client, "samples": each.samples, "counts": list(each.counts)} for each in way.clients]
    return {
        **_origin(found, way),
        "recorded": _recorded(store, found, way.client),
        **_shapes(found),
        "models": list(way.models),
        "clients": clients,
        "versions": _versions(),
    }


def _origin(found: FinishedRun, way: Way) -> dict[str, Any]:
    run, config = found.run, found.federation.config
    return {
        "format": FORMAT,
        "run": run.run_id,
        "config": run.config_hash,
        "seed": run.seed,
        "method": run.method,
        "predict": way.predict,
        "client": way.client,
        "state": {"step": found.step, "is": found.state},
        "data": {"name": config.data.name, "content": found.federation.judge.content},
    }


def _recorded(store: Store, found: FinishedRun, client: int | None) -> dict[str, Any]:
    """The accuracy that the run recorded for this model; None if it did not score that client."""
    name = "accuracy/merged" if client is None else "accuracy/test"
    who: Who = "server" if client is None else client
    rows = read.rows(store, found.run.run_id, names=[name], step=found.step, client=who)
    return {"metric": name, "split": "test", "value": rows[0].value if rows else None}


def _shapes(found: FinishedRun) -> dict[str, Any]:
    """Inputs, outputs and the network."""
    site, judge, model = found.federation.site, found.federation.judge, found.federation.config.model
    assert isinstance(site, SampleSite), "labelled samples have such a site"
    assert isinstance(judge, SampleJudge), "labelled samples have such a judge"
    stored = site.train.inputs
    return {
        "classes": list(judge.evaluator.splits.classes),
        "input": {
            "dtype": str(stored.dtype),
            "shape": ["N", *stored.shape[1:]],
            "normalisation": dict(site.inputs.facts()),
            "network_shape": list(site.shape),
        },
        "output": {"dtype": "float32", "shape": ["N", site.n_classes], "is": "the probability of each class"},
        "model": {"name": model.name, "options": model.model_dump(mode="json")},
    }


def _versions() -> dict[str, str]:
    return {
        "equipoise": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
