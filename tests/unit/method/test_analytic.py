from __future__ import annotations

import pytest
import torch

from equipoise.config.check import check
from equipoise.core.errors import ClientError, ConfigError
from equipoise.kind.samples import require
from equipoise.method.analytic import NEVER, AnalyticOptions, closed_form
from equipoise.run.build import build
from equipoise.server.merge import ServerState
from equipoise.server.ridge import solved, sums
from equipoise.server.sums import added_up, gram_entries, most_features, needed_bytes
from tests.conftest import numbers, one_shot, records

SMALL = (
    "method=analytic",
    "checkpoints=1",
    "model=patches",
    "model.filters=4",
    "model.kept=5",
    "evaluate.beside=never",
)
D, C = 20, 10


SPLITS = (
    {"name": "iid", "clients": 3},
    {"name": "dirichlet", "clients": 2, "alpha": 100.0},
    {"name": "shards", "clients": 5},
    {"name": "iid", "clients": 1},
    {"name": "iid", "clients": 20},
)


def config(*changes: str, split=None):
    usual = one_shot(*SMALL, "partition.alpha=0.05", *changes)
    return usual if split is None else check(usual.model_dump() | {"partition": split})


def head(split=None) -> torch.Tensor:
    model = records(config(split=split))[-1].snapshot.server.model
    return torch.cat([model["head.weight"].T, model["head.bias"][None]])


@pytest.fixture(scope="module")
def usual():
    return head()


@pytest.mark.parametrize("limit", [None, 100])
def test_the_head_is_the_ridge_solution_over_all_samples_whatever_the_evaluator_reads(limit, usual):
    changes = () if limit is None else (f"evaluate.train_images={limit}",)
    evaluator = build(config(*changes)).judge.evaluator
    train = evaluator.splits.train
    with torch.inference_mode():
        features = evaluator.model.encoder(evaluator.splits.inputs.prepare(train.inputs))
    expected = solved([sums(features, torch.from_numpy(train.labels), C)])
    assert torch.allclose(usual.double(), expected, rtol=1e-3, atol=1e-3)
    if limit is not None:
        model = records(config(*changes))[-1].snapshot.server.model
        assert torch.allclose(model["head.weight"].T, usual[:-1], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("split", SPLITS, ids=lambda split: f"{split['name']}-{split['clients']}")
def test_any_split_gives_the_same_head(split, usual):
    assert torch.allclose(head(split), usual, rtol=1e-3, atol=1e-3)  # sums travel in single precision


def test_parts_and_half_precision_trade_bytes_for_accuracy():
    full, half, parts = (numbers(records(config(*more))) for more in ((), ("method.send=half",), ("method.parts=2",)))
    rest = D * C + D + C
    assert full[0, None, "bytes/up"] == 3 * 4 * (gram_entries(D) + rest)
    assert half[0, None, "bytes/up"] == 3 * (2 * gram_entries(D) + 4 * D + 4 * rest)
    assert parts[0, None, "bytes/up"] == 3 * 4 * (gram_entries(D, 2) + rest)
    for found in (half, parts):
        assert found[0, None, "accuracy/merged"] > full[0, None, "accuracy/merged"] - 0.2


def test_no_clients_sums_are_kept():
    (record,) = records(config())
    assert all(not own.report for own in record.snapshot.own.values())
    assert not record.snapshot.server.sums


def test_a_class_that_nobody_has_is_never_predicted():
    x = torch.randn(30, D, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(30) % (C - 1)
    state = ServerState({"head.weight": torch.zeros(C, D)}, sums=added_up([(x, labels)], C))
    model = closed_form(AnalyticOptions(), state, []).model
    assert model["head.bias"][C - 1] == NEVER
    scores = x @ model["head.weight"].T + model["head.bias"]
    assert (scores.argmax(1) != C - 1).all()


def test_constant_features_are_refused():
    state = ServerState({}, sums=added_up([(torch.ones(8, D), torch.arange(8))], C))
    with pytest.raises(ClientError, match="the same for all samples"):
        closed_form(AnalyticOptions(), state, [])


def test_sums_that_do_not_fit_into_memory_are_refused_before_anything_starts(monkeypatch):
    """With 40 MB for eight features times 500 filters: the number that fits is the largest whose sums need less."""
    monkeypatch.setattr(require, "memory", lambda: 40_000_000)
    monkeypatch.setattr("equipoise.models.patches.fixed", lambda *_: pytest.fail("constants were made"))
    fits = most_features(40_000_000)
    assert needed_bytes(fits) <= 40_000_000 < needed_bytes(fits + 1)
    with pytest.raises(ConfigError, match=rf"sums of 4000 features .* {fits} fit"):
        build(config("model.filters=500", "model.kept=null"))
