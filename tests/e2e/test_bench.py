"""equipoise bench, and run --profile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from equipoise.core.device import resolved
from tests.e2e.conftest import TINY, Equipoise


@pytest.mark.slow
def test_a_benchmark_is_printed_and_kept(equipoise: Equipoise, tmp_path: Path) -> None:
    done = equipoise("bench", "store", "--repeats", "1", "--json", "-o", "speed.jsonl")
    (result,) = done.json
    assert {"name", "what", "ratio", "spread", "ours", "theirs", "goal"} <= result.keys()
    assert (result["name"], result["goal"]) == ("store", "≤ 0.02")
    assert result["ratio"] > 0
    (kept,) = [json.loads(line) for line in (tmp_path / "speed.jsonl").read_text().splitlines()]
    assert kept["ratio"] == result["ratio"]
    assert kept["cores"] >= 1
    assert kept["processor"]
    assert kept["device"]


def test_which_there_are(equipoise: Equipoise) -> None:
    names = [line.split()[0] for line in equipoise("bench", "--list").out.splitlines()]
    assert {
        "overhead",
        "cohort",
        "tiny",
        "device",
        "startup",
        "rec",
        "vision-round",
        "memory",
        "store",
        "growth",
    } <= set(names)


def test_one_that_is_not_there(equipoise: Equipoise) -> None:
    done = equipoise("bench", "overheads", code=2)
    assert "no benchmark is called 'overheads'" in done.err
    assert "overhead" in done.err.split("'overheads'")[1]


def test_one_whose_data_is_not_here_is_left_out_with_the_reason(equipoise: Equipoise) -> None:
    done = equipoise("bench", "rec", "--json")
    assert done.json == []
    assert "left out: MovieLens-1M" in done.err


def test_what_auto_means_is_said_above_the_table(equipoise: Equipoise) -> None:
    device, header = equipoise("bench", "rec").out.splitlines()
    assert device.startswith(f"engine.device=auto: {resolved('auto')} (")
    assert header.startswith("benchmark")


def test_a_profile_beside_the_document(equipoise: Equipoise) -> None:
    done = equipoise("run", "fedavg", *TINY, "rounds=2", "--profile", "--json")
    assert done.json["status"] == "done"
    for part in ("data", "forward", "backward", "optimiser", "merge", "evaluate", "store"):
        assert f"\n {part} " in done.err
    assert "try: " in done.err


def test_a_profile_of_workers(equipoise: Equipoise) -> None:
    arguments = ("data.limit=200", "model=mlp", "client.epochs=20", "rounds=2", "engine=processes", "engine.workers=1")
    done = equipoise("run", "fedavg", *arguments, "--profile")
    assert "workers" in done.err
    forward = next(line for line in done.err.splitlines() if line.startswith(" forward"))
    assert float(forward.split()[1]) == 0  # the server waits
    assert float(forward.split()[3]) > 0


def test_a_profile_where_the_data_decides_how_many_clients_there_are(equipoise: Equipoise) -> None:
    done = equipoise("run", "rec/sasrec", "rounds=1", "data.users=20", "server.fraction=0.5", "--profile")
    assert done.code == 0
    assert "\n forward " in done.err
    assert "try: " in done.err
