"""Both sides of a benchmark do the same work: clients of different size, several epochs, momentum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from equipoise.bench.job import BenchmarkJob, make_job
from equipoise.bench.ours import Ours
from equipoise.bench.plain import plain
from equipoise.bench.plain_recommender import plain_recipe
from equipoise.bench.vision_round import straightforward, transformed
from equipoise.client.train import train
from equipoise.config.loader import load
from equipoise.kind.histories.site import HistorySite
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot

MODELS = {
    "logistic": {"name": "mlp", "layers": 0},
    "mlp": {"name": "mlp", "hidden": 8},
    "cnn": {"name": "cnn", "width": 4, "features": 8},
    "resnet8": {"name": "resnet8", "width": 4},
}


def job_of(model: str, **engine: object) -> BenchmarkJob:
    settings = {
        "model": MODELS[model],
        "client": {"epochs": 2, "batch": 8, "lr": 0.05, "momentum": 0.9},
        "rounds": 1,
        "partition": {"clients": 4},
        "engine": engine or {"name": "local"},
    }
    return make_job(settings, (3, 8, 8), [30, 17, 24, 9], n_classes=5)


@pytest.mark.parametrize("model", MODELS)
def test_ours_and_the_plain_loop_come_to_the_same_model(model):
    job = job_of(model)
    with Ours(job) as ours:
        mine, theirs = ours(), plain(job)()
    assert job.loss(mine) == pytest.approx(job.loss(theirs), rel=1e-4)
    assert job.loss(mine) != pytest.approx(job.loss(job.start), rel=1e-3)
    for name, tensor in theirs.items():
        if name.endswith("num_batches_tracked"):
            continue  # nobody's mean
        assert torch.allclose(mine[name].float(), tensor.float(), rtol=1e-2, atol=1e-3), name


@pytest.mark.parametrize("engine", [{"name": "local", "together": 4}, {"name": "processes", "workers": 1}], ids=str)
def test_whatever_engine_carries_it_out(engine):
    job = job_of("mlp", **engine)
    with Ours(job) as ours:
        first, again = ours(), ours()
    assert job.loss(first) == job.loss(again) == pytest.approx(job.loss(plain(job)()), rel=1e-4)


def test_a_picture_transformed_one_by_one_is_a_normalised_picture():
    draw = np.random.default_rng(0)
    picture = Image.fromarray(draw.integers(0, 256, (32, 32, 3), dtype=np.uint8))
    views = torch.stack([transformed(picture, draw) for _ in range(20)])
    assert views.shape == (20, 3, 32, 32)
    assert -1 <= views.min() < views.max() <= 1
    assert views.std(0).mean() > 0.1  # each is drawn anew


def test_the_straightforward_way_learns():
    settings = {
        "method": "fafi",
        "communication": "one-shot",
        "model": {"name": "resnet8", "width": 4},
        "client": {"epochs": 1, "batch": 16, "lr": 0.02, "augment": "two-view"},
        "partition": {"clients": 1},
    }
    assert 0 < straightforward(make_job(settings, (3, 16, 16), [32])) < 100


def test_the_recommender_comes_to_the_same_weights_prefix_by_prefix_and_candidate_by_candidate():
    settings = ["data.users=60", "server.fraction=0.05", "method.loss=sampled", "method.negatives=7", "client.batch=2"]
    federation = build(load("rec/feddmmr", settings).config)
    assert isinstance(federation.site, HistorySite)
    tasks = plan(federation, first_snapshot(federation), 1)
    torch.manual_seed(0)
    shared = {name: tensor + 0.1 * torch.randn_like(tensor) for name, tensor in tasks[0].shared.items()}  # O is not 0
    tasks = [replace(task, shared=shared) for task in tasks]
    ours, theirs = train(federation.site.recipe(), tasks), [train(plain_recipe(federation.site), [t])[0] for t in tasks]
    for mine, other in zip(ours, theirs, strict=True):
        for name in ("loss/base", "loss/align", "grad/norm"):
            assert mine.metrics[name] == pytest.approx(other.metrics[name], rel=1e-4), name
        for name, tensor in mine.model.items():
            whole = other.model[name]
            theirs_here = whole[mine.rows[name]] if name in mine.rows else whole
            assert torch.allclose(tensor, theirs_here, rtol=1e-3, atol=1e-5), name
            assert name.startswith("experts") or not torch.equal(tensor, shared[name][mine.rows.get(name, ...)]), name
