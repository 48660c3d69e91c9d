"""The parts of an exported model: its card, its tensors, and how to assemble them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from equipoise.core.errors import ConfigError, EngineError
from equipoise.core.registry import MODELS, PREDICTS
from equipoise.core.torch_settings import kept_torch_settings
from equipoise.core.values import State
from equipoise.data.inputs import Inputs
from equipoise.deploy.card import Way, card_of
from equipoise.deploy.finished import FinishedRun, finished
from equipoise.deploy.predictor import Makers, Predictor, assemble
from equipoise.deploy.trace import Reads, trace
from equipoise.engine.local import Local
from equipoise.evaluate.judge import SampleJudge
from equipoise.evaluate.predictions import Evaluator, PredictionCache
from equipoise.kind.samples.site import SampleSite
from equipoise.run.ask import ask
from equipoise.server.predict import Merged, Predict, parameter_average, question_of
from equipoise.store.database import Store
from equipoise.store.records import Run

FEW = 4
"""Number of test samples on which an exported model is compared with the run's own server."""
TOLERANCE = 1e-5
"""Tolerance between two probabilities of the same model: another batch size rounds differently."""


@dataclass(frozen=True)
class Origins:
    """The functions and classes whose source code the model needs."""

    network: Callable[..., nn.Module]
    """(options, shape, number of classes) → the network."""
    head: nn.Module | None
    """Replaces the network's own head."""
    common: Callable[..., nn.Module] | None
    """(shape, seed) → the untrained common encoder, if it is used."""
    inputs: Inputs
    predict: Predict


@dataclass(frozen=True)
class Parts:
    card: Mapping[str, Any]
    tensors: State
    makers: Makers
    origins: Origins
    samples: Tensor
    """A few test samples, in stored form."""
    probabilities: Tensor
    """The predictions of the run's own server on them."""

    def require_equal(self, found: Tensor, what: str) -> None:
        """Refuse to export a model whose predictions differ from those of the run's server."""
        if found.shape != self.probabilities.shape or not torch.allclose(found, self.probabilities, atol=TOLERANCE):
            text = f"{what} does not predict what the server of run '{self.card['run']}' predicts"
            raise EngineError(
                text, where=str(self.card["predict"]), fix="a way to predict must depend on its view alone"
            )


def model_of(store: Store, run: Run, client: int | None = None, data_path: Path | None = None) -> Predictor:
    """The model of a finished run, from stored samples to probabilities. `client`: that client's own model."""
    parts = parts_of(store, run, client, data_path)
    return assemble(parts.card, parts.tensors, parts.makers)


def parts_of(store: Store, run: Run, client: int | None = None, data_path: Path | None = None) -> Parts:
    with kept_torch_settings():
        found = finished(store, run, data_path)
        name, predict, merged = _chosen(found, client)
        site, evaluator = _site(found), _few_samples(found)
        reads = _reads(found, evaluator, predict, merged)
        config, kind = found.federation.config, found.federation.config.kind
        common = kind.common(config.server.common) if reads.common else None
        make_common = None if common is None else lambda: common(site.shape, config.seed)
        network = site.plain_network()
        head = None if found.federation.method.head is None else network.head
        makers = Makers(site.plain_network, None, make_common, site.inputs.prepare, predict)
        origins = Origins(MODELS.find(config.model.name).make, head, common, site.inputs, predict)
        used = merged.clients if reads.clients else ()
        card = card_of(store, found, Way(name, client, sorted(reads.models), used))
        tensors = _tensors(reads, evaluator, makers)
        samples = torch.tensor(evaluator.splits.test.inputs)
        parts = Parts(card, tensors, makers, origins, samples, reads.probabilities)
        with torch.no_grad():
            parts.require_equal(assemble(card, tensors, makers)(samples), "the model")
    return parts


def _chosen(found: FinishedRun, client: int | None) -> tuple[str, Predict, Merged]:
    """The predictor and what it predicts with; a client's own model predicts alone."""
    if client is not None:
        return "parameter-average", parameter_average, Merged(found.model_of_client(client), ())
    predict = found.federation.method.predict
    if predict is None:
        clients = ", ".join(str(number) for number in sorted(found.own)[:8])
        what = f"method '{found.run.method}' merges nothing: run '{found.run.run_id}' has one model per client"
        raise ConfigError(what, where="method", fix=f"name a client: {clients} …")
    return predict, PREDICTS.find(predict).make, found.merged()


def _site(found: FinishedRun) -> SampleSite:
    site = found.federation.site
    assert isinstance(site, SampleSite), "labelled samples have such a site"
    return site


def _few_samples(found: FinishedRun) -> Evaluator:
    judge = found.federation.judge
    assert isinstance(judge, SampleJudge), "labelled samples have such a judge"
    splits = judge.evaluator.splits
    few = replace(splits, test=splits.test.take(np.arange(min(FEW, len(splits.test)))))
    return replace(judge.evaluator, model=_site(found).plain_network(), splits=few, common_known={})


def _reads(found: FinishedRun, evaluator: Evaluator, predict: Predict, merged: Merged) -> Reads:
    """Ask the clients the predictor's question, then trace what it reads."""
    federation, question = found.federation, question_of(predict)
    answers: Mapping[int, State] = {}
    if question is not None:
        engine = Local(federation.site)
        answers = ask(engine, federation.roster, merged, [question], found.step)[question]
    cache = PredictionCache(evaluator, [client.client for client in merged.clients])
    reads = trace(predict, cache.view("test", answers), merged)
    if reads.noise:
        reads.values["noise"] = {"samples": torch.tensor(cache.samples["noise"].inputs)}
    return reads


def _tensors(reads: Reads, evaluator: Evaluator, makers: Makers) -> State:
    found = {f"models.{name}.{key}": tensor for name, state in reads.models.items() for key, tensor in state.items()}
    for group, state in reads.outside_models().items():
        found |= {f"values.{group}.{key.replace('.', ':')}": tensor for key, tensor in state.items()}
    if makers.common is not None:
        found |= {f"common.{key}": tensor for key, tensor in evaluator.common.state_dict().items()}
    return {name: tensor.detach().clone(memory_format=torch.contiguous_format) for name, tensor in found.items()}
