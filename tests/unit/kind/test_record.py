from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from equipoise.config.blocks import DataOptions
from equipoise.config.check import check
from equipoise.config.kinds import fits_kind, kind_of
from equipoise.config.traits import HISTORIES, LABELS, PIXELS
from equipoise.core.errors import ConfigError
from equipoise.core.registry import DATASETS, KINDS, METHODS, MODELS, SPLITTERS
from equipoise.kind.record import load_path

PATHS = ("build", "site", "plain_loss", "inputs", "common_encoder", "content", "content_key", "describe", "show")


@pytest.mark.parametrize("name", KINDS.names())
def test_every_member_is_where_it_says(name):
    kind = KINDS.find(name).make
    assert kind.name.startswith(name)  # as messages say it: tabular rows
    for member in PATHS:
        assert callable(kind.load(member)) if getattr(kind, member) else LABELS not in kind.offers, member
    assert kind.load("unpublished") is not None
    assert all(callable(load_path(path)) for path in kind.figures)
    assert hasattr(kind.load("site"), "of_shared")


@pytest.mark.parametrize("name", KINDS.names())
def test_what_a_kind_leaves_out_fits_it(name):
    kind = KINDS.find(name).make
    assert kind.defaults.keys() == {"partition", "model", "method"}
    for key, chosen in kind.defaults.items():
        assert fits_kind(key, chosen, kind)
    assert fits_kind("method", kind.aligned, kind)
    assert "open-lambda" in METHODS.find(kind.aligned).traits


@pytest.mark.parametrize("name", KINDS.names())
def test_settings_that_nothing_reads_are_settings(name):
    for path in KINDS.find(name).make.unread:
        block, key = path.split(".")
        assert key in type(getattr(check({}), block)).model_fields


def test_a_set_is_of_the_kind_whose_settings_its_own_extend():
    assert {name: kind_of(name).name for name in ("digits", "cifar10", "planted", "movielens-1m", "table")} == {
        "digits": "images",
        "cifar10": "images",
        "planted": "interactions",
        "movielens-1m": "interactions",
        "table": "interactions",
    }
    assert check({"data": "planted"}).kind is KINDS.find("interactions").make
    assert check({}).kind is KINDS.find("images").make


def test_a_set_of_no_kind_is_refused(monkeypatch):
    class Strange(DataOptions):
        name: str = "strange"

    strange = replace(DATASETS.find("digits"), name="strange", given=Strange)
    monkeypatch.setitem(DATASETS._entries, "strange", strange)
    with pytest.raises(ConfigError, match=r"data 'strange' is of no known kind; its options extend none of .*Image"):
        kind_of("strange")


@pytest.mark.parametrize(
    ("key", "name", "fits"),
    [
        ("model", "cnn", {"images"}),
        ("model", "sasrec", {"interactions"}),
        ("partition", "users", {"interactions"}),
        ("method", "feddmmr", {"interactions"}),
    ],
)
def test_a_thing_fits_the_kinds_that_have_what_it_needs(key, name, fits):
    assert {kind for kind in KINDS.names() if fits_kind(key, name, KINDS.find(kind).make)} == fits


def test_what_needs_labels_fits_every_kind_that_has_them_and_any_data_fits_all():
    labelled = {entry.name for entry in KINDS if LABELS in entry.make.offers}
    assert "images" in labelled
    for key, name in (("partition", "dirichlet"), ("model", "mlp"), ("method", "fafi")):
        assert {kind for kind in KINDS.names() if fits_kind(key, name, KINDS.find(kind).make)} == labelled
    assert all(fits_kind("method", "fedavg", entry.make) for entry in KINDS)


def test_kinds_offer_what_things_ask_for():
    assert KINDS.find("images").make.offers == {LABELS, PIXELS}
    assert KINDS.find("interactions").make.offers == {HISTORIES}
    offered = frozenset().union(*(entry.make.offers for entry in KINDS))
    for registry in (SPLITTERS, MODELS, METHODS):
        for entry in registry:
            assert entry.traits & {LABELS, PIXELS, HISTORIES} <= offered


def test_settings_of_every_kind_are_checked_without_torch():
    lines = [
        "import sys",
        "from equipoise.config.check import check",
        "from equipoise.core.registry import KINDS",
        "for entry in KINDS: assert entry.make.defaults",
        "check({}), check({'data': 'planted'}), check({'data': 'wine'})",
        "assert 'torch' not in sys.modules",
    ]
    script = "\n".join(lines)
    subprocess.run([sys.executable, "-c", script], check=True)
