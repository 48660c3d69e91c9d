import numpy as np
import pytest

from equipoise.core.streams import stream
from equipoise.partition.dirichlet_client import DirichletClientOptions, asked, dirichlet_client, served
from equipoise.partition.divide import count

LABELS = np.repeat(np.arange(10), 100)


def counts(alpha, clients, seed=0):
    options = DirichletClientOptions(alpha=alpha, clients=clients, min_size=1)
    return count(dirichlet_client(LABELS, 10, options, stream(seed, "test")), LABELS, 10)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 100.0])
def test_sizes_are_equal_whatever_the_skew(alpha):
    assert set(counts(alpha, 7).sum(axis=1).tolist()) == {142, 143}  # 1000 = 6·143 + 142


def test_smaller_alpha_means_fewer_classes_per_client():
    few, many = ((counts(alpha, 20) > 0).sum(axis=1).mean() for alpha in (0.01, 10.0))
    assert few < 4
    assert many > 9


def test_a_place_asks_by_the_prior_of_its_client_among_the_classes_left():
    prior = np.log([[0.1, 0.2, 0.7], [0.8, 0.1, 0.1]])
    places = np.array([0, 1] * 5000)
    wanted = asked(places, prior, np.array([0, 2]), stream(0, "test"))
    # without class 1: .1/.8 and .7/.8 for client 0, .8/.9 and .1/.9 for client 1
    assert (wanted[places == 0] == 0).mean() == pytest.approx(0.1 / 0.8, abs=0.02)
    assert (wanted[places == 1] == 0).mean() == pytest.approx(0.8 / 0.9, abs=0.02)
    assert set(wanted.tolist()) == {0, 2}


def test_asking_survives_priors_that_are_zero_in_floating_point():
    prior = np.array([[0.0, -1e6, -2e6]])
    assert set(asked(np.zeros(50, int), prior, np.array([1, 2]), stream(0, "test")).tolist()) == {1}


def test_a_class_in_demand_serves_as_many_as_it_has_drawn_uniformly():
    wanted, stock = np.array([0, 1, 1, 1, 0]), np.array([5, 2])
    winners = np.zeros(5)
    for seed in range(600):
        place, label = served(wanted, stock, stream(seed, "test"))
        assert label.tolist() == [0, 0, 1, 1]
        assert wanted[place].tolist() == label.tolist()
        winners[place] += 1
    assert winners[[0, 4]].tolist() == [600, 600]
    assert winners[1:4] == pytest.approx([400] * 3, abs=60)  # two of three


def test_extreme_skew_with_many_clients_ends():
    labels = np.repeat(np.arange(100), 500)
    options = DirichletClientOptions(alpha=0.001, clients=500)
    lists = dirichlet_client(labels, 100, options, stream(0, "test"))
    assert {len(index) for index in lists} == {100}
