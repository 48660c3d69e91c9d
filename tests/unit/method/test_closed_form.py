from __future__ import annotations

import pytest
import torch

from equipoise.core.errors import ClientError
from equipoise.core.registry import METHODS
from equipoise.method.closed_form import NOBODY, solved
from equipoise.server.merge import ServerState
from equipoise.server.sums import added_up
from tests.unit.method.heads import C, D, head, samples, scores

LINEAR = ("afl", "fed3r", "fedcgs")


def method(name: str):
    entry = METHODS.find(name)
    return entry.make(entry.options())


@pytest.mark.parametrize("name", LINEAR)
def test_a_class_that_nobody_has_is_never_predicted(name):
    x, labels = samples(n_classes=C - 1)
    found = head(method(name), x - 5, labels)
    assert found["head.bias"][C - 1] == pytest.approx(NOBODY)
    assert found["head.weight"].isfinite().all()
    assert (scores(found, x - 5).argmax(1) != C - 1).all()


@pytest.mark.parametrize("name", LINEAR)
def test_one_client_with_one_class_among_others(name):
    x, labels = samples()
    apart = head(method(name), x, labels, labels)  # every client has one class
    assert torch.allclose(apart["head.weight"], head(method(name), x, labels)["head.weight"], atol=1e-3)


@pytest.mark.parametrize("name", LINEAR)
def test_everybody_has_the_same_class(name):
    x, _ = samples()
    found = head(method(name), x, torch.full((len(x),), 2))
    assert (scores(found, x).argmax(1) == 2).all()


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("value", [0.0, 0.1, 5.0])
def test_constant_features_are_refused(name, value):
    _, labels = samples()
    with pytest.raises(ClientError, match="every feature is the same for all samples"):
        head(method(name), torch.full((len(labels), D), value), labels)


@pytest.mark.parametrize("name", LINEAR)
def test_one_sample_of_each_class_is_enough_for_a_head(name):
    x, labels = samples(C)
    found = head(method(name), x, labels, labels)
    assert found["head.weight"].isfinite().all()
    assert (scores(found, x).argmax(1) == labels).all()


def test_a_head_that_is_not_finite_is_refused():
    x, labels = samples()
    total = {name: tensor.double() for name, tensor in added_up([(x, labels)], C).items()}
    with pytest.raises(ClientError, match="weights that are not finite"):
        solved(lambda sums: (sums.classes / 0, sums.counts), ServerState({}, sums=total), [])
