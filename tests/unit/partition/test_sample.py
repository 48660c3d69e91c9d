import numpy as np
import pytest

from equipoise.partition.check import Check
from equipoise.partition.divide import divide, events
from equipoise.partition.drawn import DrawnOptions
from equipoise.partition.sample import COUNTED, counted, expected, owned

LABELS = np.arange(6000) % 10
SOME = Check(disjoint=True, covering=False, labels_equal=False, overlap=0.0, unowned=0.5, smallest=1)


def test_expected_overlap_by_hand():
    # of 4 images of class 0 a client holds 1 on average, of 2 of class 1 also 1: chances 1/4 and 1/2; three clients
    check = expected(SOME, np.array([[2, 0], [0, 2]]), np.array([4, 2]), 3)
    none = 4 / 6 * (3 / 4) ** 3 + 2 / 6 * (1 / 2) ** 3
    one = 4 / 6 * 3 * (1 / 4) * (3 / 4) ** 2 + 2 / 6 * 3 * (1 / 2) * (1 / 2) ** 2
    assert check.unowned == pytest.approx(none)
    assert check.overlap == pytest.approx(1 - none - one)
    assert (check.disjoint, check.covering, check.smallest) == (False, False, 1)


def test_a_class_without_images_counts_for_nothing():
    check = expected(SOME, np.array([[1, 0]]), np.array([1, 0]), 5)
    assert (check.overlap, check.unowned, check.covering) == (1.0, 0.0, True)


@pytest.mark.parametrize("clients", [1200, 3000])
def test_what_is_expected_is_near_what_all_clients_have(clients):
    divided = divide(LABELS, 10, DrawnOptions(clients=clients, size=4), 0)
    held = np.bincount(np.concatenate(list(divided.indices)), minlength=6000)
    assert divided.is_sampled
    assert divided.check.overlap == pytest.approx((held >= 2).mean(), abs=0.02)
    assert divided.check.unowned == pytest.approx((held == 0).mean(), abs=0.02)
    assert divided.skew["samples"] == held.sum() == 4 * clients


def test_few_clients_are_all_counted():
    divided = divide(LABELS, 10, DrawnOptions(clients=COUNTED), 0)
    assert not divided.is_sampled
    assert len(divided.counts) == len(divided.counted) == COUNTED
    assert "counted" not in divided.skew
    (event,) = events(divided)
    assert "expected" not in event.message
    assert event.detail.keys() == {"overlap", "unowned", "fingerprint"}


def test_of_many_clients_the_first_are_counted_and_it_says_so():
    few, many = (divide(LABELS, 10, DrawnOptions(clients=clients), 0) for clients in (COUNTED, 100 * COUNTED))
    assert many.counts.tolist() == few.counts.tolist()
    assert (len(many.indices), many.skew["counted"]) == (100 * COUNTED, COUNTED)
    assert many.skew["samples"] == 20 * 100 * COUNTED
    assert {name: many.skew[name] for name in ("entropy", "classes", "emd", "size_min", "size_max")} == {
        name: few.skew[name] for name in ("entropy", "classes", "emd", "size_min", "size_max")
    }
    (event,) = events(many)
    assert "(expected, from the first 1000 of 100000 clients)" in event.message
    assert event.detail["counted"] == COUNTED


def test_all_clients_of_other_splitters_are_counted():
    indices = [np.array([k]) for k in range(2 * COUNTED)]
    assert counted(indices) is indices


def test_what_somebody_has_is_gone_through_until_nothing_is_missing():
    assert owned([np.array([3, 5]), np.array([0, 3])], 7).tolist() == [0, 3, 5]

    def clients():
        yield np.arange(4)
        raise AssertionError("everything has an owner already")

    assert owned(clients(), 4).tolist() == [0, 1, 2, 3]
