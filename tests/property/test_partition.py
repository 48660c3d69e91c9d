"""What every partition must be, over hundreds of random skews, sizes and label sets."""

from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import PartitionError
from equipoise.core.registry import SPLITTERS
from equipoise.core.streams import stream
from equipoise.partition.check import declares_overlap
from equipoise.partition.divide import divide
from equipoise.partition.drawn import DrawnOptions
from equipoise.partition.fafi_overlap import FafiOverlapOptions, fafi_overlap
from tests.conftest import for_images

DRAWING = [name for name in for_images(SPLITTERS) if "own-file" not in SPLITTERS.find(name).traits]
DISJOINT = [name for name in DRAWING if not declares_overlap(SPLITTERS.find(name).options())]
often = settings(max_examples=120, deadline=None)


@st.composite
def requests(draw, name):
    """(labels, n_classes, options, seed): any label mix, some classes empty, always room for the clients."""
    entry = SPLITTERS.find(name)
    own = entry.options.model_fields
    clients, min_size = draw(st.integers(1, 500)), draw(st.integers(1, 4))
    chosen = {"clients": clients, "min_size": min_size}
    if "alpha" in own:
        chosen["alpha"] = 10 ** draw(st.floats(-3, 2))
    shards = draw(st.integers(1, 3)) if "classes_per_client" in own else 1
    if "classes_per_client" in own:
        chosen["classes_per_client"] = shards
    n = clients * max(min_size, shards) + draw(st.integers(0, 2000))
    n_classes = draw(st.integers(1, 100))
    seed = draw(st.integers(0, 2**32))
    mix = 10 ** draw(st.floats(-1, 2))
    rng = stream(seed, "labels")
    prior = rng.dirichlet(np.full(n_classes, mix))
    labels = rng.choice(n_classes, n, p=prior)
    return labels, n_classes, entry.options(**chosen), seed


def holders(indices, n):
    """How many clients hold each sample, counted one by one."""
    held = [0] * n
    for index in indices:
        for sample in index.tolist():
            held[sample] += 1
    return held


@pytest.mark.parametrize("name", DISJOINT)
def test_every_sample_has_exactly_one_client_and_every_client_its_minimum(name):
    @often
    @given(requests(name))
    def holds(request):
        labels, n_classes, options, seed = request
        partition = divide(labels, n_classes, options, seed)
        assert holders(partition.indices, len(labels)) == [1] * len(labels)
        assert len(partition.indices) == options.clients
        assert min(map(len, partition.indices)) >= options.min_size
        assert partition.counts.sum(axis=0).tolist() == np.bincount(labels, minlength=n_classes).tolist()
        assert all(np.isfinite(value) for value in partition.skew.values())

    holds()


@pytest.mark.parametrize("name", DRAWING)
def test_the_same_seed_gives_the_same_fingerprint_and_another_seed_another(name):
    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 2**32), st.integers(10, 50))
    def holds(seed, clients):
        labels = np.arange(1000) % 10
        options = SPLITTERS.find(name).options(clients=clients)
        first, again, other = (divide(labels, 10, options, s).fingerprint for s in (seed, seed, seed + 1))
        assert first == again != other

    holds()


@pytest.mark.parametrize("name", DISJOINT)
def test_no_room_is_an_error_and_never_a_loop(name):
    @settings(max_examples=25, deadline=None)
    @given(st.integers(1, 300), st.integers(1, 5), st.data())
    def holds(clients, min_size, data):
        n = data.draw(st.integers(0, clients * min_size - 1))
        with pytest.raises(PartitionError):
            divide(np.zeros(n, dtype=np.int64), 3, SPLITTERS.find(name).options(clients=clients, min_size=min_size), 0)

    holds()


@often
@given(requests("fafi-overlap"))
def test_overlap_is_reported_as_counted_one_by_one(request):
    labels, n_classes, options, seed = request
    if not (labels == 0).any():
        with pytest.raises(PartitionError):
            divide(labels, n_classes, options, seed)
        return
    partition = divide(labels, n_classes, options, seed)
    held = holders(partition.indices, len(labels))
    assert partition.check.overlap == pytest.approx(sum(n >= 2 for n in held) / len(held))
    assert partition.check.unowned == pytest.approx(sum(n == 0 for n in held) / len(held))
    assert partition.skew["samples"] == sum(held)
    assert partition.check.disjoint == (max(held) <= 1)
    assert min(map(len, partition.indices)) >= options.min_size


def twin(labels, options, rng):
    """FAFI's rule, sample by sample, for clients that need no topping up."""
    members = [np.flatnonzero(labels == c).tolist() for c in range(int(labels.max()) + 1)]
    shape = (len(members), options.clients)
    gamma, uniform = rng.standard_gamma(options.alpha + 1.0, shape), 1.0 - rng.random(shape)
    held = [set() for _ in range(options.clients)]
    for c, own in enumerate(members):
        log_g = np.log(gamma[c]) + np.log(uniform[c]) / options.alpha
        g = [exp(value - max(log_g)) for value in log_g]
        for k in range(options.clients):
            take = min(len(own), round(10 * len(members[0]) * g[k] / sum(g)))
            if take == len(own):
                held[k].update(own)
            elif take:
                keys = rng.random(len(own))  # a fresh shuffle
                held[k].update(sample for _, sample in sorted(zip(keys, own, strict=True))[:take])
    return [sorted(samples) for samples in held]


@often
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=8),
    st.integers(1, 20),
    st.floats(-2, 1),
    st.integers(0, 2**32),
)
def test_fafi_overlap_equals_its_brute_force_twin(sizes, clients, exponent, seed):
    labels = stream(seed, "mix").permutation(np.repeat(np.arange(len(sizes)), sizes))
    options = FafiOverlapOptions(clients=clients, alpha=10**exponent, min_size=1)
    ours = fafi_overlap(labels, len(sizes), options, stream(seed, "partition"))
    theirs = twin(labels, options, stream(seed, "partition"))
    if all(theirs):  # topping up draws more; it is tested by hand beside the splitter
        assert [index.tolist() for index in ours] == theirs
    else:
        assert min(map(len, ours)) == 1


@settings(max_examples=20, deadline=None)
@given(requests("drawn"), st.integers(1, 40), st.data())
def test_a_client_draws_the_same_however_many_others_there_are(request, size, data):
    labels, n_classes, plain, seed = request
    size = min(size, len(labels))
    few = DrawnOptions(clients=plain.clients, alpha=plain.alpha, size=size, min_size=1)
    client = data.draw(st.integers(0, few.clients - 1))
    many = few.model_copy(update={"clients": 10**7})
    one, other = (divide(labels, n_classes, options, seed) for options in (few, many))
    own = one.indices[client]
    assert own.tolist() == other.indices[client].tolist() == sorted(set(own.tolist()))
    assert len(own) == size
    assert one.fingerprint != other.fingerprint
    held = np.array(holders(one.indices, len(labels)))
    assert one.check.overlap == pytest.approx((held >= 2).mean())
    assert one.skew["samples"] == held.sum() == few.clients * size
