"""What every predictor promises: `server.predict`."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from equipoise.config import traits
from equipoise.core.registry import PREDICTS
from equipoise.engine.local import Local
from equipoise.evaluate.judge import SampleJudge
from equipoise.evaluate.predictions import PredictionCache
from equipoise.evaluate.score import Answers, predicted, questions_of
from equipoise.run.advance import advance, begin
from equipoise.run.ask import ask
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from equipoise.server.predict import Merged
from equipoise.testing.small import assert_same, nobody, one_shot, untouched_rng

METHODS = {traits.PROTOTYPES: "fafi", traits.MEANS: "fedproto"}
"""Methods that provide what a predictor needs."""


def check_predictor(name: str, *overrides: str) -> None:
    """Check that it gives probabilities, in any order of clients, draws nothing, and does not modify its inputs."""
    needs = PREDICTS.find(name).traits
    method = next((method for trait, method in METHODS.items() if trait in needs), "fedavg")
    is_normed = traits.BATCH_NORM in needs
    network = ["model.width=4", "model.norm=batch"] if is_normed else []
    wanted = (f"method={method}", f"server.predict={name}", *network, *overrides)
    config = one_shot(*wanted, epochs=1, checkpoints=1, model="cnn" if is_normed else "mlp")
    federation = build(config)
    engine, snapshot = Local(federation.site), first_snapshot(federation)
    merged = advance(federation, engine, snapshot, begin(federation, engine, snapshot, 0), nobody).merged
    answers = ask(engine, federation.roster, merged, questions_of([name]), 0)
    assert isinstance(federation.judge, SampleJudge)
    cache = PredictionCache(federation.judge.evaluator, [client.client for client in merged.clients])
    states = [merged.model, merged.broadcast, *(client.model for client in merged.clients)]
    before = [{key: tensor.clone() for key, tensor in state.items()} for state in states]
    with untouched_rng():
        there = predicted(cache, name, merged, "test", answers)
    _are_probabilities(there, len(cache.labels("test")), name)
    for state, kept in zip(states, before, strict=True):
        assert_same(state, kept)
    _same_backwards(cache, name, merged, answers)


def _are_probabilities(answers: Tensor, n_images: int, name: str) -> None:
    assert answers.ndim == 2, f"'{name}' gives {tuple(answers.shape)}, expected [N, C]"
    assert len(answers) == n_images, f"'{name}' answers {len(answers)} of {n_images} images"
    assert answers.dtype == torch.float32, f"'{name}' gives {answers.dtype}, expected float32"
    assert bool((answers >= 0).all()), f"'{name}' gives probabilities below zero"
    sums = answers.sum(1)
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5), f"the answers of '{name}' do not add up to one"


def _same_backwards(cache: PredictionCache, name: str, merged: Merged, answers: Answers) -> None:
    turned = replace(merged, clients=merged.clients[::-1])
    there, back = (predicted(cache, name, each, "test", answers) for each in (merged, turned))
    assert torch.equal(there, back), f"'{name}' depends on the order of the clients"
