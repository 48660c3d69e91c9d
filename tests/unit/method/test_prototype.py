from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from equipoise.core.registry import METHODS
from equipoise.core.values import Losses, Moment
from equipoise.method.answers import BY_CONFIGURATION, Method
from equipoise.method.prototype import PrototypeOptions
from equipoise.models.classifier import ModelOutput
from equipoise.models.heads import PrototypeHead
from equipoise.objective.compose import Batch, Net
from equipoise.objective.contrast import supervised_contrast

NAMES = ("fafi", "etf-align", "drcl")
P = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
IMAGES, LABELS = torch.tensor([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]]), torch.tensor([0, 1, 0])


def method(name: str, **options: object) -> Method:
    entry = METHODS.find(name)
    made = entry.make(entry.options.model_validate({"name": entry.name, **options}))
    assert isinstance(made, Method)
    return made


def losses(name: str, **options: object) -> Losses:
    """Of three images that are their own features."""
    given = method(name, **options)
    head = PrototypeHead(P, torch.eye(2), options.get("kappa", 16.0) if options.get("logits") == "cosine" else None)
    net = Net(lambda x: ModelOutput(x, head(x)), {"head.prototypes": head.prototypes})
    received = {"head.prototypes": torch.zeros(2, 2), "head.anchors": torch.eye(2)}
    return given.objective(net, Batch(IMAGES, LABELS), received, Moment(0.5, np.array([2, 0])))


@pytest.mark.parametrize("name", NAMES)
def test_base_is_the_four_terms_with_weight_one(name):
    found = losses(name)
    z = F.normalize(IMAGES, dim=1)
    cls = F.cross_entropy(z @ P.T, LABELS).item()
    pp = F.cross_entropy(P @ P.T, torch.arange(2)).item()
    con = supervised_contrast(z, LABELS, 0.07).item()
    parts = {key: part.item() for key, part in found.parts.items()}
    assert parts == pytest.approx({"cls": cls, "con": con, "pf": cls, "pp": pp})
    assert found.base.item() == pytest.approx(2 * cls + con + pp)


def test_with_cosine_logits_all_terms_use_directions_and_kappa():
    found = losses("fafi", logits="cosine", kappa=4.0)
    unit = F.normalize(P, dim=1)
    assert found.parts["cls"].item() == pytest.approx(
        F.cross_entropy(4 * F.normalize(IMAGES, dim=1) @ unit.T, LABELS).item()
    )
    assert found.parts["pf"].item() == found.parts["cls"].item()
    assert found.parts["pp"].item() == pytest.approx(F.cross_entropy(4 * unit @ unit.T, torch.arange(2)).item())


def test_fafi_aligns_nothing():
    assert losses("fafi").align is None
    assert method("fafi").balance is not None
    assert METHODS.find("v4").name == "fafi"


@pytest.mark.parametrize("name", ["etf-align", "drcl"])
def test_alignment_is_the_distance_to_the_anchors_and_any_policy_weighs_it(name):
    # ‖p − a‖²/D: (1, 0) and (0, 0)
    align = losses(name).align
    assert align is not None
    assert align.item() == pytest.approx((1 / 2 + 0) / 2)
    assert losses(name, classes="owned").align.item() == pytest.approx(1 / 2)  # type: ignore[union-attr]
    # halfway from 0 to the anchors: targets (½, 0) and (0, ½)
    halfway = losses(name, target="progressive").align
    assert halfway is not None
    assert halfway.item() == pytest.approx((1.5**2 / 2 + 0.5**2 / 2) / 2)
    assert method(name).balance is BY_CONFIGURATION


def test_drcl_has_random_anchors():
    assert METHODS.find("drcl").options().anchors == "random"  # type: ignore[attr-defined]
    assert METHODS.find("etf-align").options().anchors == "etf"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
def test_the_server_block_decides_the_merge_and_features_are_averaged_unless_it_says_otherwise(name):
    assert method(name).merge is BY_CONFIGURATION
    assert method(name).predict == "feature-average"


def test_the_defaults_are_as_published():
    options = PrototypeOptions()
    assert (options.logits, options.start, options.tau) == ("dot", "gauss", 0.07)
