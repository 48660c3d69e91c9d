from __future__ import annotations

import re

import pytest

from equipoise.store.records import new_run_id, now


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("fedavg", "fedavg"),
        ("FedAvg V2", "fedavg-v2"),
        ("../../x", "x"),
        ("été", "été"),
        ("///", "run"),
        ("a" * 99, "a" * 40),
    ],
)
def test_a_run_id_is_the_name_and_six_characters(name: str, slug: str) -> None:
    assert re.fullmatch(re.escape(slug) + "-[0-9a-hjkmnp-tv-z]{6}", new_run_id(name))


def test_run_ids_differ() -> None:
    assert len({new_run_id("fedavg") for _ in range(200)}) == 200


def test_times_sort_as_text() -> None:
    times = [now() for _ in range(50)]
    assert times == sorted(times)
    assert {len(time) for time in times} == {len("2025-01-01T00:00:00.000000+00:00")}
