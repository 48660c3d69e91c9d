"""Content helps where the generator made features speak of taste; full ranking shows no gain where it did not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from equipoise.config.loader import load
from equipoise.core.values import Row
from equipoise.engine.local import Local
from equipoise.evaluate.intervals import Interval, paired
from equipoise.run.build import build
from equipoise.run.loop import federate, first_snapshot

CHOICES = ("data.follow=0", "data.drift=0")
"""Taste alone decides, and it stays as it is."""
HIT = "hr@10/uni100"


@cache
def rows(preset: str, *overrides: str) -> list[Row]:
    """All numbers of a whole run."""
    federation = build(load(preset, [*CHOICES, *overrides]).config)
    records = federate(federation, Local(federation.site), first_snapshot(federation), 0, lambda *_: None)
    return [row for record in records for row in record.rows]


def figures(preset: str, *overrides: str) -> dict[str, float]:
    return {row.name: row.value for row in rows(preset, *overrides) if row.client is None}


def gain(signal: str) -> Interval:
    """Of content over ids in full ranking, user by user, over three seeds with histories of their own, 200 rounds."""
    hits: dict[str, list[bool]] = {"rec/feddmmr": [], "rec/sasrec": []}
    for preset, found in hits.items():
        for seed in range(3):
            own = (f"seed={seed}", f"data.generator_seed={seed}")
            ranked = rows(preset, f"data.signal={signal}", "rounds=200", *own)
            found += [row.value <= 10 for row in ranked if row.name == "rank/full"]
    return paired(*(np.array(found, dtype=float) for found in hits.values()), seed=0)


@pytest.mark.slow
def test_content_beats_ids_where_features_speak_of_taste():
    ids, both = (
        figures("rec/sasrec", "data.signal=0.9"),
        figures("rec/feddmmr", "data.signal=0.9", "data.features=as-given"),
    )
    assert both[f"{HIT}/low"] > ids[f"{HIT}/high"]


@pytest.mark.slow
def test_content_beats_ids_where_features_speak_half_of_taste():
    assert gain("0.45").low > 0


@pytest.mark.slow
def test_full_ranking_shows_no_gain_where_features_say_nothing():
    assert gain("0").low <= 0


@pytest.mark.slow
def test_shuffled_rows_lose_the_gain():
    told, shuffled = (
        figures("rec/feddmmr", "data.signal=0.9", f"data.features={how}") for how in ("as-given", "shuffled")
    )
    assert told[f"{HIT}/low"] > shuffled[f"{HIT}/high"]
    assert shuffled[f"{HIT}/low"] <= figures("rec/sasrec", "data.signal=0.9")[HIT]
