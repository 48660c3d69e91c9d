"""Content helps where the generator made features speak of taste; full ranking shows no gain where it did not."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from equipoise.config.loader import load
from equipoise.evaluate.intervals import Interval, paired
from tests.conftest import records

CONTENT, IDS = ("rec/feddmmr",), ("rec/sasrec",)
SHUFFLED = (*CONTENT, "data.features=shuffled")


class How(NamedTuple):
    """Histories in which taste alone decides, and stays as it is; every seed has its own."""

    protocol: str
    rounds: int
    seeds: int


WHOLE = How("full", rounds=200, seeds=3)
QUICK = How("uni100", rounds=20, seeds=1)


@cache
def hits(how: How, signal: str, preset: str, *overrides: str) -> list[bool]:
    """Whose test item is among the first ten: the users of all seeds."""
    found = []
    for seed in range(how.seeds):
        own = (f"data.signal={signal}", f"seed={seed}", f"data.generator_seed={seed}", f"rounds={how.rounds}")
        last = records(load(preset, ["data.follow=0", "data.drift=0", *own, *overrides]).config)[-1]
        found += [row.value <= 10 for row in last.rows if row.name == f"rank/{how.protocol}"]
    return found


def gain(how: How, signal: str, ours: tuple[str, ...], theirs: tuple[str, ...]) -> Interval:
    """User by user."""
    return paired(*(np.array(hits(how, signal, *which), dtype=float) for which in (ours, theirs)), seed=0)


def test_content_beats_ids_where_features_speak_of_taste():
    assert gain(QUICK, "0.9", CONTENT, IDS).low > 0


def test_shuffled_rows_lose_the_gain():
    """Some of it may be more weights to learn with, and not content; less than half."""
    assert gain(QUICK, "0.9", CONTENT, SHUFFLED).low > 0
    assert gain(QUICK, "0.9", SHUFFLED, IDS).mean < gain(QUICK, "0.9", CONTENT, IDS).mean / 2


@pytest.mark.slow
@pytest.mark.long
def test_content_beats_ids_where_features_speak_half_of_taste():
    assert gain(WHOLE, "0.45", CONTENT, IDS).low > 0


@pytest.mark.slow
@pytest.mark.long
def test_full_ranking_shows_no_gain_where_features_say_nothing():
    assert gain(WHOLE, "0", CONTENT, IDS).low <= 0
