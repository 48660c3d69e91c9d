import numpy as np
import pytest

from equipoise.core.errors import PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.core.streams import stream
from equipoise.partition.divide import divide
from equipoise.partition.draws import log_dirichlet
from equipoise.partition.fafi_overlap import FafiOverlapOptions, fafi_overlap, takes, topped_up


def test_takes_is_ten_times_the_size_of_class_0_clipped_at_the_class():
    sizes, shares = np.array([40, 100]), np.array([[0.001, 0.05, 0.949], [0.01, 0.02, 0.97]])
    # 10·40·q = .4, 20, 379.6 → 0, 20, 40 (clipped at 40);   4, 8, 388 → 4, 8, 100 (clipped at 100)
    assert takes(sizes, shares).tolist() == [[0, 20, 40], [4, 8, 100]]


def test_a_short_client_takes_more_where_its_share_is_largest():
    wanted, sizes = np.array([[0, 3], [1, 0], [0, 0]]), np.array([3, 3, 3])
    log_q = np.log([[0.1, 0.8], [0.6, 0.1], [0.3, 0.1]])
    # client 0 holds 1 and needs 5: class 1 has 2 more, class 2 has 3 of which 2 are needed
    assert topped_up(wanted, log_q, sizes, 5)[:, 0].tolist() == [0, 3, 2]
    assert topped_up(wanted, log_q, sizes, 3)[:, 1].tolist() == [3, 0, 0]
    assert wanted.tolist() == [[0, 3], [1, 0], [0, 0]]


def test_a_single_client_holds_everything_once():
    labels = np.array([0, 1, 0, 1])
    assert fafi_overlap(labels, 2, FafiOverlapOptions(clients=1), stream(0, "t"))[0].tolist() == [0, 1, 2, 3]


def test_it_declares_its_overlap_and_no_short_name_hides_it():
    assert FafiOverlapOptions.overlaps
    assert SPLITTERS.find("fafi-overlap").aliases == ()
    assert "CLIENTS SHARE SAMPLES" in str(FafiOverlapOptions.model_fields["alpha"].description)


def test_an_empty_class_0_is_an_error():
    with pytest.raises(PartitionError, match="class 0 has no samples"):
        fafi_overlap(np.array([1, 1, 1]), 2, FafiOverlapOptions(), stream(0, "t"))


def test_a_minimum_above_the_whole_set_is_an_error():
    with pytest.raises(PartitionError, match="at least 4 needs as many samples, there are 3"):
        fafi_overlap(np.array([0, 0, 1]), 2, FafiOverlapOptions(min_size=4), stream(0, "t"))


def measured(n_classes, alpha):
    """Means over ten seeds: samples held, share held twice, whole classes per client; 50 000 samples, 5 clients."""
    each = 50_000 // n_classes
    labels = np.repeat(np.arange(n_classes), each)
    runs = [divide(labels, n_classes, FafiOverlapOptions(alpha=alpha), seed) for seed in range(10)]
    whole = [(run.counts == each).sum(axis=1).mean() for run in runs]
    return np.mean([(run.skew["samples"], run.check.overlap, n) for run, n in zip(runs, whole, strict=True)], axis=0)


# measured independently of this code, ten seeds each; the tolerances are three standard errors of such a mean
CIFAR10 = {
    0.05: (79_992, 0.535, 2.8),
    0.1: (99_648, 0.749, 3.3),
    0.3: (154_168, 0.977, 4.9),
    0.5: (174_460, 0.982, 5.3),
}
CIFAR100 = {0.05: (77_918, 0.46), 0.1: (99_681, 0.70), 0.3: (146_944, 0.95), 0.5: (173_331, 0.99)}


@pytest.mark.parametrize("alpha", CIFAR10)
def test_ten_classes_overlap_as_measured_elsewhere(alpha):
    samples, overlap, whole = measured(10, alpha)
    assert samples == pytest.approx(CIFAR10[alpha][0], rel=0.1)
    assert overlap == pytest.approx(CIFAR10[alpha][1], abs=0.12)
    assert whole == pytest.approx(CIFAR10[alpha][2], abs=0.45)


@pytest.mark.parametrize("alpha", CIFAR100)
def test_a_hundred_classes_overlap_as_measured_elsewhere(alpha):
    samples, overlap, _ = measured(100, alpha)
    assert samples == pytest.approx(CIFAR100[alpha][0], rel=0.04)
    assert overlap == pytest.approx(CIFAR100[alpha][1], abs=0.04)


def test_the_expected_volume_is_that_of_the_beta_distribution():
    # q_k ~ Beta(α, 4α); N·K·E[min(1, 10·q)] by quadrature = 77 505, 97 923, 146 618, 172 524
    for alpha, volume in {0.05: 77_505, 0.1: 97_923, 0.3: 146_618, 0.5: 172_524}.items():
        q = np.exp(log_dirichlet(alpha, (100_000, 5), stream(0, "test")))
        assert takes(np.full(len(q), 5000), q).sum() / len(q) * 10 == pytest.approx(volume, rel=0.01)
