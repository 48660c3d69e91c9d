from __future__ import annotations

from math import ceil

from equipoise.client.together import SPEED
from equipoise.config.loader import load
from equipoise.run.build import build
from equipoise.run.estimate import estimate
from tests.conftest import one_shot, tiny

PARAMETERS = 192 * 16 + 16 + 16 * 10 + 10


def test_the_cost_of_a_perceptron_by_hand(federation_of) -> None:
    """180 images over three clients, two rounds of one epoch; 192·16 + 16·10 multiply-adds an image."""
    federation = federation_of(tiny())
    found, sizes = estimate(federation), sorted(federation.site.samples(client) for client in range(3))
    assert (found.clients, found.cohort, found.samples) == (3, 3, tuple(sizes))
    assert found.parameters == PARAMETERS
    assert found.steps == 2 * sum(ceil(size / federation.config.client.batch) for size in sizes)
    assert found.bytes_each_way == 2 * 3 * 4 * PARAMETERS
    assert found.seconds is not None
    assert abs(found.seconds - 6 * (192 * 16 + 16 * 10) * 180 * 2 / SPEED) < 1e-12


def test_one_upload_is_counted_once_and_a_fraction_as_such(federation_of) -> None:
    once = estimate(federation_of(one_shot(epochs=4, checkpoints=2)))
    assert once.bytes_each_way == 3 * 4 * PARAMETERS
    part = estimate(federation_of(tiny("server.fraction=0.34")))
    assert part.cohort == 1


def test_a_recommender_is_not_estimated() -> None:
    found = estimate(build(load("rec/feddmmr", ["data.users=10"]).config))
    assert found.seconds is None
    assert found.clients == 10
