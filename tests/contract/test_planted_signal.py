"""Content helps where the generator made features speak of taste, and only there."""

from __future__ import annotations

from functools import cache
from math import sqrt
from statistics import fmean

import pytest

from equipoise.config.loader import load
from equipoise.core.values import Row
from equipoise.engine.local import Local
from equipoise.run.build import build
from equipoise.run.loop import federate, first_snapshot

CHOICES = ("data.follow=0", "data.drift=0")
"""Taste alone decides, and it stays as it is."""
HIT = "hr@10/uni100"


@cache
def figures(preset: str, *overrides: str) -> dict[str, float]:
    """Test figures of a whole run."""
    federation = build(load(preset, [*CHOICES, *overrides]).config)
    records = federate(federation, Local(federation.site), first_snapshot(federation), 0, lambda *_: None)
    rows: list[Row] = [row for record in records for row in record.rows]
    return {row.name: row.value for row in rows if row.client is None}


def test_content_beats_ids_where_features_speak_of_taste():
    ids, both = (
        figures("rec/sasrec", "data.signal=0.9"),
        figures("rec/feddmmr", "data.signal=0.9", "data.features=as-given"),
    )
    assert both[f"{HIT}/low"] > ids[f"{HIT}/high"]


@pytest.mark.slow
def test_content_beats_ids_where_features_speak_half_of_taste():
    """Over the users of three seeds, each with histories of its own."""
    seeds = [(f"seed={seed}", f"data.generator_seed={seed}") for seed in range(3)]
    ids = fmean(figures("rec/sasrec", "data.signal=0.45", *seed)[HIT] for seed in seeds)
    both = fmean(figures("rec/feddmmr", "data.signal=0.45", *seed)[HIT] for seed in seeds)
    n_users = 500 * len(seeds)
    assert both - 1.96 * sqrt(both * (1 - both) / n_users) > ids


@pytest.mark.slow
def test_content_gains_nothing_where_features_say_nothing():
    ids, both = figures("rec/sasrec", "data.signal=0"), figures("rec/feddmmr", "data.signal=0")
    assert both[f"{HIT}/low"] <= ids[HIT]


@pytest.mark.slow
def test_shuffled_rows_lose_the_gain():
    told, shuffled = (
        figures("rec/feddmmr", "data.signal=0.9", f"data.features={how}") for how in ("as-given", "shuffled")
    )
    assert told[f"{HIT}/low"] > shuffled[f"{HIT}/high"]
    assert shuffled[f"{HIT}/low"] <= figures("rec/sasrec", "data.signal=0.9")[HIT]
