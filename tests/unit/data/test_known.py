from __future__ import annotations

import re

from equipoise.config.blocks import ImageOptions, InteractionOptions
from equipoise.config.kinds import kind_of
from equipoise.core.registry import DATASETS, KINDS
from equipoise.data.known import KNOWN, KnownImages, KnownInteractions
from equipoise.data.own import OWN_FILES
from equipoise.data.planted import PlantedOptions, planted
from equipoise.data.source import SOURCES
from equipoise.kind.check import known_of


def test_every_set_is_known_and_the_rest_have_files():
    names = set(DATASETS.names())
    assert set(KNOWN) == names - {"table", "folder", "npz", "tabular", "features"}
    assert set(SOURCES) == set(KNOWN) - {"digits", "synthetic", "planted", "breast-cancer", "wine"}
    assert set(OWN_FILES) == set(DATASETS.names()) - set(KNOWN)


def test_every_set_is_of_one_kind():
    for entry in DATASETS:
        kind = kind_of(entry.name)
        assert issubclass(entry.options, kind.options)
        assert [other.make for other in KINDS if issubclass(entry.options, other.make.options)] == [kind]
        known = {"images": KnownImages, "interactions": KnownInteractions}.get(kind.name)
        assert known is None or isinstance(known_of(entry), known)
        assert {"images": ImageOptions, "interactions": InteractionOptions}.get(kind.name, kind.options) is kind.options


def test_the_generated_set_is_as_large_as_is_said():
    data, known = planted(PlantedOptions(), None), KNOWN["planted"]
    assert (data.n_users, data.n_items, len(data.items)) == (known.users, known.items, known.interactions)


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
