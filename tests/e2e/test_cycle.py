"""run → ls → show → run again from the stored configuration → compare, as a user goes through them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from tests.e2e.conftest import TINY, Equipoise


def test_a_run_is_listed_shown_repeated_and_compared(equipoise: Equipoise, tmp_path: Path) -> None:
    first = equipoise("run", "fedavg", *TINY, "rounds=2", "--json")
    run = first.json
    assert set(run) >= {"run_id", "name", "status", "config", "metrics", "findings"}
    assert run["status"] == "done"
    assert 0 <= run["metrics"]["accuracy/merged"] <= 1
    assert first.err.count("round ") == 2, "one plain line per checkpoint without a terminal"

    (listed,) = equipoise("ls", "--json").json
    assert (listed["run_id"], listed["status"]) == (run["run_id"], "done")
    assert listed["steps"] == {"done": 2, "planned": 2}
    heading, line = equipoise("ls").out.splitlines()
    assert heading.split()[-1] == "accuracy/merged"
    assert line.split()[0] == run["run_id"]
    narrow = equipoise("ls", COLUMNS="60").out
    assert run["run_id"] in narrow
    assert "accuracy/merged" in narrow
    assert f"{100 * run['metrics']['accuracy/merged']:.2f} %" in narrow

    shown = equipoise("show", run["run_id"][:-2], "--json").json
    assert shown["metrics"] == run["metrics"]
    assert "done" in equipoise("show", "latest").out

    (tmp_path / "again.yaml").write_text(equipoise("show", "latest", "--config").out)
    again = equipoise("run", "again.yaml", "--json").json
    assert again["config"] == run["config"]
    assert again["metrics"] == run["metrics"]

    other = equipoise("run", "fedprox", *TINY, "rounds=2", "--json").json
    table = equipoise("compare", run["run_id"], other["run_id"], "--json").json
    assert [row["label"] for row in table["rows"]] == ["fedavg", "fedprox"]
    assert table["rows"][0]["final"]["mean"] == run["metrics"]["accuracy/merged"]
    assert table["rows"][1]["runs"] == [other["run_id"]], "a cell resolves to its run"
    ids = (run["run_id"], other["run_id"])
    assert equipoise("compare", *ids, "--format", "md").out.startswith("| configuration | n |")
    assert r"\toprule" in equipoise("compare", *ids, "--format", "latex").out
    rows = list(csv.DictReader(io.StringIO(equipoise("compare", *ids, "--format", "csv").out)))
    assert [row["configuration"] for row in rows] == ["fedavg", "fedprox"]
    assert "fedprox" in equipoise("compare", *ids).out


def test_both_engines_give_the_same_bits(equipoise: Equipoise) -> None:
    settings = ["data.limit=200", "model=cnn", "model.norm=batch", "client.epochs=2", "checkpoints=2"]
    arguments = ("run", "one-shot/fedprox", *settings, "--json")
    runs = [equipoise(*arguments, f"engine={engine}").json for engine in ("local", "processes")]
    assert runs[0]["metrics"] == runs[1]["metrics"]
    assert runs[0]["curve"] == runs[1]["curve"]


def test_lists_of_what_there_is(equipoise: Equipoise) -> None:
    presets = {entry["name"]: entry for entry in equipoise("presets", "--json").json}
    assert presets["fedavg"]["command"] == "equipoise run fedavg"
    assert presets["studies/demo"]["kind"] == "sweep"
    assert "method: fedavg" in equipoise("presets", "fedavg").out
    methods = {entry["name"]: entry for entry in equipoise("methods", "--json").json}
    assert methods["fedprox"]["parameters"]["mu"]["default"] == 0.01
    assert "½‖w − w_t‖²" in methods["fedprox"]["answers"]
    assert "fedadam" in equipoise("methods").out
    assert "one-shot/ensemble" in equipoise("presets").out
    assert "try: equipoise run fedavg" in equipoise("ls").out


def test_partition_shows_who_owns_what(equipoise: Equipoise, tmp_path: Path) -> None:
    out = equipoise("partition", "fedavg", "alpha=0.05", "K=7", "-o", "who.svg", "--json").json
    assert len(out["counts"]) == 7
    assert sum(map(sum, out["counts"])) == out["samples"]
    assert out["disjoint"]
    assert out["covering"]
    assert (tmp_path / "who.svg").read_text().startswith("<svg")


def test_help_teaches_and_loads_nothing_heavy(equipoise: Equipoise) -> None:
    out = equipoise("--help").out
    for name in ("demo", "run", "sweep", "resume", "ls", "show", "compare", "partition", "data", "presets", "methods"):
        assert f" {name} " in out
        assert "Usage" in equipoise(name, "--help").out


def test_rows_of_a_comparison_can_be_told_apart(equipoise: Equipoise) -> None:
    ids = [equipoise("run", "fedavg", *TINY, "rounds=1", f"alpha={a}", "--json").json["run_id"] for a in (0.1, 5)]
    labels = [row["label"] for row in equipoise("compare", *ids, "--json").json["rows"]]
    assert labels == ["fedavg partition.alpha=0.1", "fedavg partition.alpha=5.0"]


def test_a_setting_of_one_method_is_not_taken_over_by_another(equipoise: Equipoise) -> None:
    run = equipoise("run", "fedavgm", "method=fedadam", *TINY, "rounds=1", "--json").json
    assert run["config"]["method"]["lr"] == 0.01, "FedAdam's own, not the FedAvgM preset's 0.5"
