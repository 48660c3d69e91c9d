import hashlib
import struct

import numpy as np

from equipoise.partition.fingerprint import fingerprint


def test_it_is_the_hash_of_the_little_endian_index_map():
    expected = hashlib.sha256(b"equipoise/partition/1" + struct.pack("<6q", 2, 1, 2, 5, 0, 7)).hexdigest()
    assert fingerprint([np.array([5]), np.array([0, 7])]) == expected


def test_the_storage_of_the_indices_does_not_matter():
    wide, narrow = np.array([1, 2], dtype=">i8"), np.array([1, 2], dtype=np.int32)
    assert fingerprint([wide]) == fingerprint([narrow])


def test_client_order_and_boundaries_matter():
    one, two = np.array([1]), np.array([2])
    maps = [[one, two], [two, one], [np.array([1, 2])], [np.array([1, 2]), two[:0]], []]
    assert len({fingerprint(m) for m in maps}) == len(maps)
