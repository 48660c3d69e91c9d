from __future__ import annotations

import json
from pathlib import Path

import pytest

import equipoise as eq

from .conftest import TINY


def test_it_is_what_the_run_trains_on(in_rounds: eq.RunHandle) -> None:
    before = eq.partition("fedavg", TINY, rounds=2, seed=1)
    after = in_rounds.partition
    assert before.fingerprint == after.fingerprint
    assert before.counts.tolist() == after.counts.tolist()
    assert (before.skew, before.facts()) == (after.skew, after.facts())
    assert before.table()["samples"].sum() == before.counts.sum() == before.to_json()["samples"]


def test_the_picture_is_a_chart_and_a_file(tmp_path: Path) -> None:
    view = eq.partition("fedavg", TINY)
    title = view.chart().to_dict()["title"]
    assert title["text"] == "Who owns what: 3 clients, 10 classes"
    assert view.fingerprint[:12] in title["subtitle"]
    assert json.loads(view.save(tmp_path / "who.json").read_text())["title"] == title


def test_overlap_is_said_before_and_after() -> None:
    view = eq.partition("fedavg", TINY, partition="fafi-overlap")
    assert view.overlap > 0
    assert "is not a partition" in view.warnings[0]
    assert view.facts()["disjoint"].startswith("NO:")


def test_users_are_not_divided() -> None:
    with pytest.raises(eq.ConfigError, match="every user is a client of its own"):
        eq.partition("rec/feddmmr")


def test_the_bad_suffix_and_the_bad_key(tmp_path: Path) -> None:
    with pytest.raises(eq.ConfigError, match=r"cannot draw a '\.bmp' file"):
        eq.partition("fedavg", TINY).save(tmp_path / "who.bmp")
    with pytest.raises(eq.ConfigError, match="did you mean 'partition'"):
        eq.partition("fedavg", partion="iid")
