from __future__ import annotations

import re

from equipoise.core.registry import DATASETS
from equipoise.data.known import KNOWN
from equipoise.data.source import SOURCES


def test_every_set_is_known_and_the_rest_have_files():
    assert set(KNOWN) == set(DATASETS.names())
    assert set(SOURCES) == set(KNOWN) - {"digits", "synthetic"}


def test_sums_have_the_right_form():
    for known in KNOWN.values():
        for md5 in [*known.md5.values(), *(item.md5 for item in known.downloads)]:
            assert re.fullmatch(r"[0-9a-f]{32}", md5)
        for sha256 in known.sha256.values():
            assert re.fullmatch(r"[0-9a-f]{64}", sha256)


def test_every_set_with_files_can_be_fetched():
    for name in SOURCES:
        assert KNOWN[name].downloads
        assert all(item.address.startswith("http") for item in KNOWN[name].downloads)


def test_md5_by_name():
    assert KNOWN["svhn"].known_md5("test_32x32.mat") == "eb5a983be6a315427106f1b164d9cef3"
    assert KNOWN["cifar10"].known_md5("cifar-10-python.tar.gz") == "c58f30108f718f92721af3b95e74349a"
    assert KNOWN["cifar10"].known_md5("something else") is None
