import numpy as np
import pytest

from equipoise.core.streams import stream
from equipoise.partition.draws import apportion, by_class, few, log_dirichlet, shuffled


def test_shuffled_keeps_every_index_and_moves_most():
    index = np.arange(1000)
    mixed = shuffled(index, stream(0, "test"))
    assert sorted(mixed) == list(range(1000))
    assert (mixed != index).mean() > 0.9


def test_by_class_groups_the_classes_and_mixes_inside_them():
    labels = np.array([1, 0] * 500)
    order = by_class(labels, stream(0, "test"))
    assert labels[order].tolist() == [0] * 500 + [1] * 500
    assert sorted(order) == list(range(1000))
    assert (np.diff(order[:500]) < 0).any()


@pytest.mark.parametrize("alpha", [0.05, 0.5, 5.0])
def test_log_dirichlet_has_the_mean_and_variance_of_a_dirichlet(alpha):
    K, draws = 4, 40_000
    q = np.exp(log_dirichlet(alpha, (draws, K), stream(0, "test")))
    variance = (1 / K) * (1 - 1 / K) / (K * alpha + 1)
    assert q.sum(axis=1) == pytest.approx(np.ones(draws))
    assert q.mean(axis=0) == pytest.approx(np.full(K, 1 / K), abs=5 * (variance / draws) ** 0.5)
    assert q.var(axis=0) == pytest.approx(np.full(K, variance), rel=0.05)


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-6, 0.01, 1e6, 1e300])
def test_log_dirichlet_is_finite_for_every_alpha(alpha):
    log_q = log_dirichlet(alpha, (100, 500), stream(1, "test"))
    assert np.isfinite(log_q).all()
    assert np.exp(log_q).sum(axis=1) == pytest.approx(np.ones(100))


def test_log_dirichlet_of_a_tiny_alpha_is_one_client_and_of_a_huge_one_is_even():
    assert np.exp(log_dirichlet(1e-6, (50, 500), stream(0, "t"))).max(axis=1) == pytest.approx(np.ones(50))
    assert np.exp(log_dirichlet(1e9, (50, 500), stream(0, "t"))) == pytest.approx(np.full((50, 500), 1 / 500), rel=1e-3)


def test_apportion_rounds_down_and_deals_the_rest_to_distinct_clients():
    # 10 · (.55, .25, .2) = 5.5, 2.5, 2.0 → 5, 2, 2 and one left over
    for seed in range(20):
        counts = apportion(np.array([10]), np.array([[0.55, 0.25, 0.2]]), stream(seed, "test"))[0]
        assert counts.sum() == 10
        assert set((counts - [5, 2, 2]).tolist()) == {0, 1}


def test_apportion_deals_the_rest_uniformly():
    shares = np.full((3000, 3), 1 / 3)
    counts = apportion(np.full(3000, 4), shares, stream(0, "test"))  # 1, 1, 1 and one left over
    assert counts.mean(axis=0) == pytest.approx([4 / 3] * 3, abs=0.05)


def test_a_share_one_bit_below_one_is_still_the_whole_class():
    below = np.nextafter(1.0, 0.0)
    assert apportion(np.array([7]), np.array([[below, 1 - below]]), stream(0, "test")).tolist() == [[7, 0]]


def test_a_few_of_many_are_a_uniform_choice_without_repeats():
    index = np.array([7, 8, 9, 10])
    assert sorted(few(index, 4, stream(0, "test")).tolist()) == index.tolist()
    assert few(index, 0, stream(0, "test")).tolist() == []
    rng = stream(0, "test")
    pairs = [tuple(sorted(few(index, 2, rng).tolist())) for _ in range(6000)]
    times = [pairs.count((a, b)) for a in index for b in index if a < b]
    assert sum(times) == 6000
    assert times == pytest.approx([1000] * 6, abs=4 * (6000 * 1 / 6 * 5 / 6) ** 0.5)
