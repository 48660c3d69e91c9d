from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.core.registry import METHODS
from equipoise.core.values import Moment
from equipoise.method.resolve import resolve
from equipoise.models.build import build_model, state_of
from equipoise.models.classifier import ModelOutput
from equipoise.models.mlp import MlpOptions
from equipoise.objective.anchors import anchors
from equipoise.objective.compose import Batch, Net
from tests.conftest import one_shot, records, tiny


def method(**options: float):
    entry = METHODS.find("fedetf")
    return entry.make(entry.options(name="fedetf", **options))


def test_the_head_is_a_simplex_that_all_share_and_nobody_trains():
    model = build_model(MlpOptions(hidden=16), (3, 4, 4), 5, 3, method().head)
    assert torch.equal(state_of(model)["head.anchors"], anchors("etf", 5, 16, 3))
    assert [name for name, _ in model.named_parameters() if name.startswith("head")] == []
    seen = model(torch.ones(1, 3, 4, 4))
    z = seen.features / seen.features.norm()
    assert torch.allclose(seen.logits, 16 * z @ anchors("etf", 5, 16, 3).T, atol=1e-5)


def test_base_is_the_balanced_cross_entropy_alone():
    logits = torch.tensor([[0.0, log(2), 9.0]])
    net = Net(lambda images: ModelOutput(images, logits), {})
    losses = method(gamma=2.0).objective(net, Batch(torch.zeros(1, 2), torch.tensor([0])), {}, Moment(0.0, COUNTS))
    # odds 1·3² : 2·1² : nothing
    assert losses.base.item() == pytest.approx(-log(9 / (9 + 2)))
    assert losses.parts.keys() == {"cls"}
    assert losses.align is None


COUNTS = np.array([3, 1, 0])


def test_kappa_scales_the_logits():
    head = method(kappa=4.0).head(2, 2, 0)
    east = head.anchors[:1]
    # two anchors lie opposite each other: cosines 1 and −1
    assert head(3 * east).softmax(1).flatten().tolist() == pytest.approx([1 / (1 + exp(-8)), 1 / (1 + exp(8))])


@pytest.mark.parametrize("config", [tiny("method=fedetf"), one_shot("method=fedetf")])
def test_after_a_run_the_anchors_are_where_they_were(config):
    record = records(config)[-1]
    fixed = anchors("etf", 10, 16, config.seed)
    assert torch.equal(record.snapshot.server.model["head.anchors"], fixed)
    assert all(torch.equal(own.model["head.anchors"], fixed) for own in record.snapshot.own.values() if own.model)
    assert {row.name for row in record.rows} >= {"accuracy/merged", "loss/cls"}
    assert not any(row.name.startswith("proto/") for row in record.rows)


def test_a_client_of_few_classes_trains_without_a_hitch():
    found = records(tiny("method=fedetf", "partition.alpha=0.01", "rounds=1"))[0].rows
    assert all(np.isfinite(row.value) for row in found)


def test_it_has_no_prototypes_to_merge_or_to_compare_with():
    for setting in ("server.merge=unit", "server.predict=feature-average"):
        with pytest.raises(ConfigError, match="server"):
            resolve(tiny("method=fedetf", setting))
