from __future__ import annotations

import pytest
import torch

from equipoise.core.errors import ConfigError
from equipoise.core.registry import METHODS
from equipoise.kind.samples import require
from equipoise.method.safle import SafleOptions, bucket_head
from equipoise.models.build import build_model
from equipoise.run.build import build
from equipoise.server.ridge import solved, sums
from tests.conftest import numbers, one_shot, records
from tests.unit.method.heads import C, D, head, samples

OPTIONS = SafleOptions(levels=3, group=2)


def buckets():
    found = bucket_head(OPTIONS, D, C, 0)
    found.thresholds.copy_(torch.tensor([-1.0, 0.0, 1.0]).expand(D, 3))
    return found


def test_the_table_is_the_ridge_of_the_codes():
    x, labels = samples(200)
    mine = buckets()
    found = head(METHODS.find("safle").make(OPTIONS), x, labels, torch.arange(200) % 3, mine)
    expected = solved([sums(mine.expanded(x), labels, C)])
    assert torch.allclose(found["head.weight"].T.double(), expected[:-1], atol=1e-4)
    assert torch.allclose(found["head.bias"].double(), expected[-1], atol=1e-4)


def test_it_separates_what_no_line_does():
    """The class is whether two features have the same sign."""
    x = torch.randn(800, 2, generator=torch.Generator().manual_seed(0))
    labels = (x[:, 0] * x[:, 1] > 0).long()
    mine = bucket_head(SafleOptions(levels=1, group=2), 2, C, 0)
    found = head(METHODS.find("safle").make(SafleOptions(levels=1, group=2)), x, labels, None, mine)
    mine.load_state_dict({**mine.state_dict(), **{name.split(".")[1]: found[name] for name in found}})
    hits = [(mine(x).argmax(1) == labels).double().mean().item()]
    linear = head(METHODS.find("fedcgs").make(METHODS.find("fedcgs").options()), x, labels)
    hits.append(((x @ linear["head.weight"].T + linear["head.bias"]).argmax(1) == labels).double().mean().item())
    assert hits[0] == 1.0
    assert hits[1] < 0.7


def test_thresholds_travel_with_the_model_and_the_head_of_a_run_has_its_sums():
    config = one_shot("method=safle", "model=linear", "method.levels=2", "evaluate.beside=never", checkpoints=1)
    (step,) = records(config)
    model = step.snapshot.server.model
    n_features = 3 * 8 * 8
    assert model["head.thresholds"].shape == (n_features, 2)
    assert (model["head.thresholds"].diff(dim=1) > 0).all()
    assert model["head.weight"].shape == (10, n_features * 2 // 2 * 4)
    assert numbers([step])[0, None, "accuracy/merged"] > 0.5


def test_a_network_has_the_head_of_its_method():
    config = one_shot("method=safle", "model=linear")
    model = build_model(config.model, (3, 8, 8), 10, 0, METHODS.find("safle").make(config.method).head)
    assert model.head.in_features == 192 * 8 // 2 * 4


@pytest.mark.parametrize(("levels", "group", "entries"), [(8, 2, 4 * 8 // 2 * 4), (3, 5, 3 * 32), (1, 1, 8)])
def test_the_number_of_entries(levels, group, entries):
    """D·L/g·2^g; 12 bits in groups of 5 are 3 groups, filled up with bits that are used again."""
    assert bucket_head(SafleOptions(levels=levels, group=group), 4, C, 0).in_features == entries


def test_codes_that_do_not_fit_into_memory_are_refused_before_the_run(monkeypatch):
    monkeypatch.setattr(require, "memory", lambda: 10**6)
    with pytest.raises(ConfigError, match=r"sums of 1536 features take 0\.1 GiB.*: \d+ fit") as caught:
        build(one_shot("method=safle", "model=linear", "method.levels=4", checkpoints=1))
    assert "method.levels" in caught.value.fix
