"""run once, fuse many: other servers on trained clients, as a user asks for them; and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import write_reference

from tests.e2e.conftest import TINY, Equipoise

ONE_SHOT = ["run", "fafi", "data.limit=300", "model=mlp", "client.epochs=2", "checkpoints=2", "--json"]


def test_six_servers_on_the_same_clients(equipoise: Equipoise) -> None:
    run = equipoise(*ONE_SHOT).json
    merges, predicts = ("plain", "unit", "counts"), ("feature-average", "energy-gate")
    chosen = [text for merge in merges for text in ("--merge", merge)]
    chosen += [text for predict in predicts for text in ("--predict", predict)]
    document = equipoise("fuse", run["run_id"], *chosen, "--json").json
    servers = document["servers"]
    assert document["run_id"] == run["run_id"]
    assert [(one["merge"], one["predict"]) for one in servers] == [(m, p) for m in merges for p in predicts]
    assert {key for one in servers for key in one} == {
        part.removeprefix("servers[].")
        for keys, _ in write_reference.JSON["fuse"]
        for part in keys.split(", ")
        if "[" in part
    }
    assert servers[0]["merged"] == run["metrics"]["accuracy/merged"]
    for one in servers:
        assert equipoise("show", one["run_id"], "--json").json["metrics"]["accuracy/merged"] == one["merged"]
    table = equipoise("fuse", run["run_id"], "--predict", "all").out
    assert "statistics-exchange  (second exchange)" in table
    assert "probe" in table


def test_a_sweep_over_servers_trains_once(equipoise: Equipoise) -> None:
    settings = ["data.limit=300", "model=mlp", "client.epochs=2", "checkpoints=2"]
    axis = "server.predict=feature-average,probability-ensemble,energy-gate"
    sweep = equipoise("sweep", "fafi", *settings, axis, "--seeds", "1", "-j", "2", "--json").json
    kinds = [{event["kind"] for event in equipoise("show", run, "--json").json["events"]} for run in sweep["runs"]]
    assert sum("fused" in kind for kind in kinds) == 2


@pytest.mark.slow
def test_what_cannot_be_fused(equipoise: Equipoise) -> None:
    rounds = equipoise("run", "fedavg", *TINY, "rounds=1", "--json").json["run_id"]
    plain = equipoise("run", "one-shot/fedavg", *TINY, "checkpoints=1", "--json").json["run_id"]
    assert "their own models were not kept" in equipoise("fuse", rounds, "--predict", "energy-gate", code=2).err
    assert "did you mean 'energy-gate'?" in equipoise("fuse", plain, "--predict", "energy-gat", code=2).err
    assert "has no prototypes to merge" in equipoise("fuse", plain, "--merge", "unit", code=2).err
    assert "needs prototypes" in equipoise("fuse", plain, "--predict", "iffi", code=2).err
    assert "there is no run" in equipoise("fuse", "nobody", code=2).err


def test_a_second_exchange_is_marked_wherever_it_is_shown(equipoise: Equipoise, tmp_path: Path) -> None:
    fafi = ("run", "fafi", "data.limit=100", "client.epochs=1", "checkpoints=1")
    beside = equipoise(*fafi)
    assert "statistics-exchange †" in beside.out
    assert "accuracy/merged †" not in beside.out
    assert "† needs the clients a second time" in beside.out
    twice = equipoise(*fafi, "server.predict=statistics-exchange")
    assert "accuracy/merged †" in twice.out
    equipoise("report", "latest", "--format", "md", "-o", "report.md")
    assert "a second exchange, so not one-shot" in (tmp_path / "report.md").read_text(encoding="utf-8")
