"""Rows of features from a file: the promises of a kind of data, and every head in closed form on them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from equipoise.config.loader import load
from equipoise.core.registry import METHODS
from equipoise.run.build import build
from equipoise.testing.kinds import check_kind
from tests.backbones import trained, written
from tests.conftest import numbers, one_shot, records

HEADS = ("analytic", "afl", "fed3r", "fedcgs", "safle")


@pytest.fixture
def folder(tmp_path):
    """Features that the small backbone gives for digits, as its own run would see them."""
    evaluator = build(one_shot(*written(tmp_path))).judge.evaluator
    network, parts = trained(), {}
    for name, samples in (("", evaluator.splits.train), ("test_", evaluator.splits.test)):
        with torch.inference_mode():
            parts[f"{name}features"] = network(evaluator.splits.inputs.prepare(samples.inputs)).numpy()
        parts[f"{name}labels"] = samples.labels
    np.savez(tmp_path / "mine.npz", **parts)
    return tmp_path


def test_rows_of_features_are_a_kind_of_data(folder):
    check_kind("features", "features", "data.file=mine.npz", "partition.clients=3", folder=folder / "mine.npz")


@pytest.mark.parametrize("method", HEADS)
def test_every_head_takes_them(method, folder):
    settings = [f"method={method}", "data=features", "data.file=mine.npz", "checkpoints=1", "evaluate.beside=never"]
    scale = ["data.scale=columns"] if method == "safle" else []
    config = load("one-shot/fedavg", [*settings, *scale]).config
    assert config.model.name == "linear"
    found = numbers(records(build(config, folder)))
    assert found[0, None, "accuracy/merged"] > 0.5


def test_features_and_the_backbone_that_gave_them_have_the_same_head(folder):
    given = ("method=afl", "evaluate.beside=never")
    direct = records(one_shot(*written(folder), *given, checkpoints=1))
    rows = load("one-shot/fedavg", [*given, "checkpoints=1", "data=features", "data.file=mine.npz"]).config
    stored = records(
        build(rows.model_copy(update={"data": rows.data.model_copy(update={"validation": 0.005})}), folder)
    )
    ours, theirs = (steps[-1].snapshot.server.model["head.weight"] for steps in (direct, stored))
    assert torch.nn.functional.cosine_similarity(ours.flatten(), theirs.flatten(), dim=0) > 0.98


def test_all_heads_are_methods():
    assert set(HEADS) <= set(METHODS.names())
