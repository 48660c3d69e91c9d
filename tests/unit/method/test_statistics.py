from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

from equipoise.client.finished import Finished
from equipoise.config.check import check
from equipoise.core.errors import ConfigError
from equipoise.core.values import State, Task
from equipoise.method.resolve import resolve
from equipoise.method.statistics import feature_sums
from equipoise.models.classifier import ModelOutput
from equipoise.run.build import build
from tests.conftest import assert_same, numbers, one_shot, records, tiny
from tests.unit.server.views import own_samples

SKEWED = tiny("method=statistics", "partition.alpha=0.05", "rounds=1")
EVEN = check(SKEWED.model_dump() | {"partition": {"name": "iid", "clients": 3}})


@pytest.fixture(scope="module")
def runs():
    return {"skewed": records(SKEWED), "even": records(EVEN)}


def seen(split: str) -> ModelOutput:
    """What the common start sees in the images of a split."""
    federation = build(EVEN)
    evaluator = federation.judge.evaluator
    return evaluator.outputs(federation.start, getattr(evaluator.splits, split).inputs)


def answers_of(model: State, features: Tensor) -> Tensor:
    return features.double() @ model["head.weight"].double().T + model["head.bias"].double()


def rounding(model: State, features: Tensor) -> float:
    """How far an answer in single precision may be off: 16 products and a bias."""
    terms = answers_of({name: tensor.abs() for name, tensor in model.items()}, features.abs())
    return 17 * 2**-23 * terms.max().item()


def undecided(answers: Tensor, off: float) -> float:
    """The share of images whose two best answers are so near that rounding decides; few of them."""
    best = answers.topk(2, 1).values
    share = (best[:, 0] - best[:, 1] <= 2 * off).double().mean().item()
    assert share < 0.1
    return share


def test_how_the_data_is_split_does_not_matter(runs):
    skewed, even = runs["skewed"][0].snapshot.server.model, runs["even"][0].snapshot.server.model
    assert build(SKEWED).partition.counts.tolist() != build(EVEN).partition.counts.tolist()
    for name in ("head.weight", "head.bias"):
        assert torch.allclose(skewed[name], even[name], rtol=1e-3, atol=1e-4)
    features = seen("test").features
    ours, theirs = (answers_of(model, features) for model in (skewed, even))
    off = (ours - theirs).abs().max().item() + rounding(even, features)
    found = [numbers(run)[0, None, "accuracy/merged"] for run in runs.values()]
    assert found[0] == pytest.approx(found[1], rel=1e-9, abs=undecided(ours, off))
    assert min(found) > 0.5


def test_the_head_is_the_ridge_of_all_training_images(runs):
    splits = build(EVEN).judge.evaluator.splits
    x, y = seen("train").features.double().numpy(), np.eye(10)[splits.train.labels]
    varies = x.std(0) > 0  # units that are never on have no say
    z = (x[:, varies] - x[:, varies].mean(0)) / x[:, varies].std(0)
    model = runs["even"][0].snapshot.server.model
    weights = model["head.weight"].double().numpy().T
    assert np.abs(weights[~varies]).max(initial=0) < 1e-3
    # back in standardised units the head solves (Ĝ + r·I)·W = Ŝ for some r: Ŝ − Ĝ·W is r times W
    w = weights[varies] * x[:, varies].std(0)[:, None]
    rest = z.T @ (y - y.mean(0)) - z.T @ z @ w
    r = (rest * w).sum() / (w * w).sum()
    assert r > 0
    assert np.abs(rest - r * w).max() < 1e-3 * np.abs(z.T @ y).max()
    features = seen("test").features
    answers = answers_of(model, features)
    accuracy = (answers.argmax(1).numpy() == splits.test.labels).mean()
    found = numbers(runs["even"])[0, None, "accuracy/merged"]
    assert found == pytest.approx(accuracy, rel=1e-9, abs=undecided(answers, rounding(model, features)))


def test_nobody_trains(runs):
    start, after = build(EVEN).start, runs["even"][0].snapshot.server.model
    encoder = [name for name in start if name.startswith("encoder.")]
    assert_same({name: after[name] for name in encoder}, {name: start[name] for name in encoder})
    assert [numbers(runs["even"])[0, client, "steps"] for client in range(3)] == [0, 0, 0]


def test_sums_come_up_and_no_model(runs):
    d, c = 16, 10
    assert numbers(runs["even"])[0, None, "bytes/up"] == 3 * (d * d + d * c + d + c) * 4


def test_every_round_and_every_checkpoint_says_the_same():
    found = numbers(records(tiny("method=statistics", "rounds=2")))
    assert found[0, None, "accuracy/merged"] == found[1, None, "accuracy/merged"]
    found = numbers(records(one_shot("method=statistics")))
    assert found[0, None, "accuracy/merged"] == found[1, None, "accuracy/merged"]


def test_clients_send_single_precision():
    own = own_samples([ModelOutput(torch.ones(2, 3), torch.zeros(2, 4))], [1, 3], 4)
    feed = SimpleNamespace(own=lambda network, models: own)
    report = feature_sums(Finished(Task(0, 0, range(0), {}), {}, {}, np.empty(0), 0.0, torch.nn.Identity(), feed))
    assert {tensor.dtype for tensor in report.values()} == {torch.float32}
    assert report["counts"].tolist() == [0, 1, 0, 1]


def test_it_has_no_class_means_to_be_near_to():
    with pytest.raises(ConfigError, match="nearest-mean"):
        resolve(tiny("method=statistics", "server.predict=nearest-mean"))
