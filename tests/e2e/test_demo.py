"""The demo's three stories, in text and as JSON."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from equipoise.api.demo import killing, stories
from equipoise.api.demo.part import Story, StoryPart
from equipoise.run import grid
from tests.commands import WAITING
from tests.e2e.conftest import Equipoise

HELD = f"""{WAITING}
from equipoise.api import progress

class Lines(progress.ProgressLines):
    def checkpoint(self, record):
        super().checkpoint(record)
        if sys.argv[1] == "run" and record.step == 1:
            wait()

progress.ProgressLines = Lines
main()
"""
"""The program, which after its second checkpoint waits to be killed: on a slow machine too it is not done before."""
SMALL = ["data.limit=200", "partition.clients=2", "client.epochs=3", "checkpoints=3"]
METHODS = ["analytic", "FedAvg", "FAFI", "untrained control"]
POLICIES = [
    "constant",
    "no alignment",
    "uncertainty",
    "decoupled",
    "decoupled-hinge",
    "equilibrium",
    "untrained control",
]
SERVERS = [
    "parameter-average",
    "feature-average",
    "probability-ensemble",
    "energy-gate",
    "typicality-gate",
    "common-gate",
]
LEFT_OUT = ("FedAvg", "FAFI", "no", "uncertainty", "decoupled-hinge", *SERVERS[:3], "typicality-gate")
"""Rows without which the stories are told faster."""


def assert_told(equipoise: Equipoise, folder: Path, rows: list[str]) -> None:
    outcome = equipoise("demo", "--seeds", "1")
    for title in ("(a) One upload, any skew", "(b) A policy that runs away, and is healed", "(c) kill -9, resume"):
        assert title in outcome.out
    for words in ("Accuracy from α 0.01 to iid: analytic", "λ policies under one server, energy-gate", "The untrained"):
        assert words in outcome.out
    for row in (*rows, "untrained control", "decoupled, guarded", "killed and resumed"):
        assert f"\n{row} " in outcome.out
    assert "stored in runs/equipoise.db" in outcome.out
    assert "next: equipoise ls" in outcome.out
    assert (folder / "runs" / "demo-report.html").stat().st_size > 1000
    assert "a new process resumes it" in outcome.err, "progress is on stderr"


def assert_told_as_json(equipoise: Equipoise) -> None:
    again = equipoise("demo", "--seeds", "1", "--json")
    assert "  done  " not in again.err, "nothing is trained twice"
    document = again.json
    skew, policies, servers = document["stories"][0]["parts"]
    (healing,), (killed,) = (story["parts"] for story in document["stories"][1:])
    assert [row["method"] for row in skew["rows"]] == METHODS
    assert list(skew["rows"][0]["accuracy"]) == ["α 0.01", "α 0.05", "α 0.5", "iid"]
    assert [row["policy"] for row in policies["rows"]] == POLICIES
    assert {row["server"] for row in servers["rows"]} == {*SERVERS, "untrained control"}
    assert [row["policy"] for row in healing["rows"]] == ["decoupled", "decoupled, guarded"]
    first, second = killed["rows"]
    assert first["run_id"].startswith("equilibrium"), "an earlier demo's killed run is not taken for it"
    assert second["run_id"].startswith("killed")
    assert first["n"] == first["equal"] > 100
    assert first["accuracy"] == second["accuracy"]
    assert (document["report"], document["store"]) == ("runs/demo-report.html", "runs/equipoise.db")


def test_the_demo_tells_three_stories(equipoise: Equipoise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer images, clients, epochs and rows."""
    whole = grid.load_grid

    def small(source: str, seeds: str) -> grid.Grid:
        found = whole(source, SMALL, seeds)
        return replace(found, cells=[cell for cell in found.cells if cell.label.partition(" ")[0] not in LEFT_OUT])

    monkeypatch.setattr(grid, "load_grid", small)
    monkeypatch.setattr(killing, "Program", partial(killing.Program, command=(sys.executable, "-c", HELD)))
    assert_told(equipoise, tmp_path, ["analytic", "constant", "equilibrium", "energy-gate", "common-gate"])


@pytest.mark.slow
@pytest.mark.long
def test_the_whole_demo(process: Equipoise, tmp_path: Path) -> None:
    assert_told(process, tmp_path, [*METHODS, *POLICIES, *SERVERS])
    assert_told_as_json(process)


def test_as_json_it_is_one_document(equipoise: Equipoise, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [Story("kill -9", [StoryPart("killing", "It is equal.", [{"run_id": "killed-1", "accuracy": math.nan}])])]
    monkeypatch.setattr(stories, "stories", lambda setting: iter(told))
    assert equipoise("demo", "--json").json == {
        "stories": [
            {
                "title": "kill -9",
                "parts": [
                    {"name": "killing", "says": "It is equal.", "rows": [{"run_id": "killed-1", "accuracy": None}]}
                ],
            }
        ],
        "report": "runs/demo-report.html",
        "store": "runs/equipoise.db",
    }


def test_a_wrong_request_is_refused(refused: Equipoise) -> None:
    assert "--seeds" in refused("demo", "--seeds", "0").err
    assert "a store is a file, not a folder" in refused("demo", "--store", ".").err
