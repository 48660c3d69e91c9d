import numpy as np
import pytest
from pydantic import ValidationError

from equipoise.core.streams import stream
from equipoise.partition.dirichlet import DirichletOptions, dirichlet
from equipoise.partition.divide import count

LABELS = np.repeat(np.arange(10), 100)


def counts(alpha, clients, seed=0, min_size=1):
    options = DirichletOptions(alpha=alpha, clients=clients, min_size=min_size)
    return count(dirichlet(LABELS, 10, options, stream(seed, "test")), LABELS, 10)


def test_one_client_owns_everything():
    assert counts(0.01, 1).tolist() == [[100] * 10]


def test_a_tiny_alpha_gives_every_class_to_one_client():
    table = counts(1e-6, 3, min_size=1)
    assert ((table >= 98).sum(axis=0) == 1).all()  # repair may have moved a sample or two


def test_a_huge_alpha_gives_everybody_the_same():
    table = counts(1e9, 4)
    assert table.min() >= 24
    assert table.max() <= 26


def test_each_client_gets_its_share_on_average():
    tables = np.array([counts(0.5, 4, seed) for seed in range(300)])
    # a share is Beta(α, 3α): mean 1/4, variance (1/4)(3/4)/(4·0.5 + 1) = 1/16
    error = 100 * (1 / 16) ** 0.5 / 300**0.5
    assert tables.mean(axis=0) == pytest.approx(np.full((4, 10), 25.0), abs=4.5 * error)


def test_extreme_skew_with_many_clients_ends_and_reaches_the_minimum():
    labels = np.repeat(np.arange(100), 500)
    lists = dirichlet(labels, 100, DirichletOptions(alpha=0.01, clients=500, min_size=20), stream(0, "test"))
    assert min(map(len, lists)) == 20
    assert sum(map(len, lists)) == 50_000


@pytest.mark.parametrize("alpha", [0, -1, float("nan"), float("inf")])
def test_alpha_must_be_a_positive_number(alpha):
    with pytest.raises(ValidationError):
        DirichletOptions(alpha=alpha)
