import numpy as np
import pytest
from pydantic import ValidationError

from equipoise.core.errors import PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.core.streams import stream
from equipoise.partition.divide import divide
from equipoise.partition.drawn import KEPT, Drawn, DrawnOptions, drawn
from equipoise.partition.fingerprint import fingerprint

LABELS = np.arange(600) % 10


def of(labels=LABELS, n_classes=10, seed=0, **settings):
    return drawn(labels, n_classes, DrawnOptions(**settings), seed)


def test_a_client_is_drawn_from_its_own_stream_by_hand():
    labels = np.array([0, 0, 0, 1])
    found = of(labels, 2, seed=5, clients=3, size=2, alpha=1.0)[2]
    rng = stream(5, "partition", 2)
    gamma, uniform = rng.standard_gamma(2.0, 2), 1 - rng.random(2)
    first = (gamma * uniform)[0] / (gamma * uniform).sum()  # α = 1: Gamma(2)·U^(1/1)
    wanted = (rng.random(2) >= first).astype(int)
    n_ones = int(wanted.sum())
    if n_ones == 2:  # class 1 has one image; the other place asks again, and only class 0 is left
        rng.random(1)
    n_ones = min(n_ones, 1)
    held, left = [], [0, 1, 2]
    for i, u in enumerate(rng.random(2 - n_ones)):
        j = i + int(u * (3 - i))
        left[i], left[j] = left[j], left[i]
        held.append(left[i])
    assert found.tolist() == sorted(held) + [3] * n_ones


def test_it_is_a_sequence_of_clients():
    clients = of(clients=5)
    assert len(clients) == 5
    assert [index.tolist() for index in clients] == [clients[k].tolist() for k in range(5)]
    assert clients[-1].tolist() == clients[4].tolist()
    assert [index.tolist() for index in clients[1:3]] == [clients[1].tolist(), clients[2].tolist()]
    with pytest.raises(IndexError):
        clients[5]


def test_the_same_seed_draws_the_same_whoever_was_asked_before():
    forward, backward = of(clients=KEPT + 50), of(clients=KEPT + 50)
    for client in range(len(forward)):
        forward[client]
    for client in reversed(range(0, len(backward), 7)):
        assert backward[client].tolist() == forward[client].tolist()
    assert of(clients=3, seed=1)[0].tolist() != forward[0].tolist()


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_label_shares_are_those_of_a_dirichlet(alpha):
    """E q = 1/C, and the variance of n_c is that of a Dirichlet-multinomial."""
    n, C, clients = 20, 5, 3000
    labels = np.arange(5000) % C
    indices = of(labels, C, clients=clients, alpha=alpha)
    counts = np.array([np.bincount(labels[index], minlength=C) for index in indices])
    assert (counts.sum(axis=1) == n).all()
    variance = n / C * (1 - 1 / C) * (n + C * alpha) / (1 + C * alpha)
    assert counts.mean(axis=0) == pytest.approx([n / C] * C, abs=4 * (variance / clients) ** 0.5)
    assert counts.var(axis=0).mean() == pytest.approx(variance, rel=0.08)


def test_images_of_a_class_are_drawn_uniformly():
    times = np.bincount(np.concatenate(of(clients=3000, alpha=100.0)), minlength=600)
    mean = 3000 * 20 / 600
    assert times.sum() == 3000 * 20
    assert times.var() == pytest.approx(mean, rel=0.2)
    assert np.abs(times - mean).max() < 5 * mean**0.5


def test_a_class_that_is_used_up_is_asked_for_no_more():
    labels = np.array([0, 1, 1, 2, 2, 2])
    for index in of(labels, 3, clients=30, size=6, alpha=0.01):
        assert index.tolist() == [0, 1, 2, 3, 4, 5]
    for index in of(labels, 3, clients=30, size=5, alpha=0.01):
        assert len(set(index.tolist())) == 5


def test_classes_without_an_image_are_passed_over():
    labels = np.array([1, 3] * 50)
    counts = np.array([np.bincount(labels[index], minlength=6) for index in of(labels, 6, clients=200, alpha=1.0)])
    assert counts.sum(axis=0)[[0, 2, 4, 5]].tolist() == [0] * 4
    assert counts[:, 1].mean() == pytest.approx(10, abs=1.7)


def test_the_fingerprint_is_of_everything_the_draws_depend_on():
    given = {"clients": 40, "alpha": 0.5, "size": 20}
    other = [{"clients": 41}, {"alpha": 0.51}, {"size": 21}, {"seed": 1}, {"n_classes": 11}]
    prints = [of(**given).fingerprint, *(of(**(given | change)).fingerprint for change in other)]
    prints.append(of(LABELS[::-1].copy(), **given).fingerprint)
    assert len(set(prints)) == len(prints)
    assert of(**given).fingerprint == of(**given, min_size=5).fingerprint == prints[0]
    assert of(LABELS.astype(np.uint8), **given).fingerprint == prints[0]


def test_the_draws_are_those_they_always_were():
    """A change moves every stored result; it needs another number in the rule's prefix, and a line in the changelog."""
    assert fingerprint(list(of(clients=7, seed=3)))[:12] == "b6e6f3da0f8e"


def test_it_declares_its_overlap_and_no_short_name_hides_it():
    assert DrawnOptions.overlaps
    assert SPLITTERS.find("drawn").aliases == ()
    assert "CLIENTS SHARE SAMPLES" in str(DrawnOptions.model_fields["alpha"].description)


@pytest.mark.parametrize("wrong", [{"size": 0}, {"size": -1}, {"alpha": 0}, {"alpha": -1}, {"clients": 0}])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ValidationError):
        DrawnOptions(**wrong)


def test_more_images_per_client_than_there_are_is_an_error():
    with pytest.raises(PartitionError, match="a client of 601 images needs as many, there are 600"):
        divide(LABELS, 10, DrawnOptions(size=601), 0)
    with pytest.raises(PartitionError, match="there are 0"):
        divide(LABELS[:0], 10, DrawnOptions(), 0)


def test_a_size_below_the_minimum_is_an_error():
    with pytest.raises(PartitionError, match=r"draws 1 images, partition.min_size is 2"):
        divide(LABELS, 10, DrawnOptions(size=1), 0)
    assert len(divide(LABELS, 10, DrawnOptions(size=1, min_size=1), 0).indices[0]) == 1


def test_only_what_was_asked_for_lately_is_remembered():
    clients = of(clients=10 * KEPT)
    for client in range(0, len(clients), 3):
        clients[client]
    assert clients._known.cache_info().currsize == KEPT


def test_no_client_is_drawn_before_somebody_asks(monkeypatch):
    asked = []
    monkeypatch.setattr(Drawn, "_draw", lambda self, client: asked.append(client) or np.arange(20))
    clients = of(clients=10**9)
    assert (len(clients), asked) == (10**9, [])
    clients[123_456_789], clients[123_456_789]
    assert asked == [123_456_789]
