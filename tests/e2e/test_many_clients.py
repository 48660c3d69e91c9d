"""Twenty thousand clients of which twenty are at work: run, show, diagnose, report."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.conftest import Equipoise

MANY = ["data.limit=400", "model=mlp", "partition=drawn", "partition.clients=20000", "server.fraction=0.001"]


def test_a_run_of_twenty_thousand_clients(equipoise: Equipoise, tmp_path: Path) -> None:
    done = equipoise("run", "fedavg", *MANY, "rounds=2", "guard=warn", "--json")
    assert done.json["status"] == "done"
    assert "drawn over 20000 clients" in done.err
    assert "round 2/2  clients 20/20" in done.err
    assert "expected, from the first 1000 of 20000 clients" in equipoise("show", "latest").out
    (finding,) = (each for each in done.json["findings"] if each["code"] == "partition-overlap")
    assert finding["severity"] == "note"
    assert "partition-overlap" in equipoise("diagnose", "latest").out
    equipoise("report", "latest", "-o", "report.md")
    text = (tmp_path / "report.md").read_text()
    assert "drawn (clients 20000" in text
    assert "≈ 100.0%" in text
    assert "300 of 20000 clients are shown" in text


def test_who_owns_what_of_many(equipoise: Equipoise, tmp_path: Path) -> None:
    told = equipoise("partition", "fedavg", *MANY, "-o", "who.json")
    assert "the first 1000 of 20000 clients" in " ".join(told.out.split())
    assert "20000 clients × 10 classes" in told.out
    assert "the first 1000 of 20000 clients" in (tmp_path / "who.json").read_text()
    record = equipoise("partition", "fedavg", *MANY, "--json").json
    assert (record["clients"], record["samples"], len(record["counts"])) == (20_000, 400_000, 1000)
    assert record["skew"]["counted"] == 1000
