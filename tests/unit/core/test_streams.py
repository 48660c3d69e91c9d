from __future__ import annotations

import hashlib
from itertools import combinations

import pytest

from equipoise.client.batches import batches
from equipoise.core.streams import stream, stream_seed

KEYS = [("batches", 0, 1), ("batches", 1, 0), ("noise", 0, 1), ("batches", 0), ("batches", 11, 2), ("batches", 1, 12)]


def test_the_number_is_the_hash_of_the_name(seed):
    digest = hashlib.blake2b(f"{seed}/views/2/5/0".encode(), digest_size=8).digest()
    assert stream_seed(seed, "views", 2, 5, 0) == int.from_bytes(digest, "little") // 2


def test_the_number_fits_any_generator(seed):
    assert all(0 <= stream_seed(seed, "x", key) < 2**63 for key in range(200))


@pytest.mark.parametrize(("one", "other"), list(combinations(KEYS, 2)))
def test_different_names_give_different_streams(seed, one, other):
    assert stream_seed(seed, *one) != stream_seed(seed, *other)
    assert stream(seed, *one).random(4).tolist() != stream(seed, *other).random(4).tolist()


def test_different_seeds_give_different_streams(seed):
    assert stream(seed, "x").random() != stream(seed + 1, "x").random()


def test_draws_do_not_depend_on_who_drew_before(seed):
    forwards = {key: stream(seed, *key).random(5).tolist() for key in KEYS}
    backwards = {key: stream(seed, *key).random(5).tolist() for key in reversed(KEYS)}
    assert forwards == backwards


def test_a_fifth_client_changes_nobodys_batches(seed):
    def all_batches(n_clients):
        return {k: [b.tolist() for b in batches(40, 8, seed, epoch=2, client=k)] for k in range(n_clients)}

    four, five = all_batches(4), all_batches(5)
    assert four == {client: five[client] for client in range(4)}
    assert five[4] not in four.values()
