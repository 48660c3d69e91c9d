"""What a run says of itself in Python."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import equipoise as eq
from equipoise.config.loader import load

from .conftest import TINY


def test_metrics_are_tidy_and_can_be_chosen(in_rounds: eq.RunHandle) -> None:
    frame = in_rounds.metrics()
    assert frame.columns == ["step", "round", "client", "name", "value"]
    merged = in_rounds.metrics("accuracy/merged", client="server")
    assert merged["step"].to_list() == [0, 1]
    assert in_rounds.value == merged["value"][-1]
    assert set(in_rounds.metrics("loss/base", client=2)["client"]) == {2}


def test_metrics_become_a_pandas_frame(in_rounds: eq.RunHandle) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = in_rounds.metrics()
    assert list(frame.to_pandas().columns) == frame.columns
    assert len(frame.to_pandas()) == len(frame)


def test_clients_events_and_partition(in_rounds: eq.RunHandle) -> None:
    clients = in_rounds.clients()
    assert clients["client"].to_list() == [0, 1, 2]
    assert clients["samples"].to_list() == [sum(row) for row in clients["labels"].to_list()]
    assert in_rounds.events["kind"].to_list() == ["started"]
    assert in_rounds.partition.counts.tolist() == clients["labels"].to_list()
    assert in_rounds.partition.fingerprint == in_rounds.record.partition


def test_the_configuration_is_the_one_that_was_asked_for(in_rounds: eq.RunHandle, tmp_path: Path) -> None:
    wanted = load("fedavg", {**TINY, "rounds": 2, "seed": 1, "engine.device": "cpu"}).config
    assert in_rounds.config == wanted
    (tmp_path / "again.yaml").write_text(in_rounds.to_yaml(), encoding="utf-8")
    assert load(tmp_path / "again.yaml").config == wanted


def test_findings_are_those_of_the_store(in_rounds: eq.RunHandle) -> None:
    assert [finding.to_json() for finding in in_rounds.findings] == in_rounds.summary()["findings"]
    assert all(isinstance(finding, eq.Finding) for finding in in_rounds.findings)


def test_it_reads_as_one_line(in_rounds: eq.RunHandle, place: Path) -> None:
    assert repr(in_rounds) == f"<run {in_rounds.id}: done, accuracy/merged {100 * (in_rounds.value or 0):.2f} %>"
    assert "there is no store" in repr(eq.RunHandle("gone-000000", str(place)))


def test_a_run_that_is_not_there_is_no_such_run(shared: Path, in_rounds: eq.RunHandle) -> None:
    with pytest.raises(eq.NoSuchRun):
        _ = eq.RunHandle("gone-000000", str(shared)).status


def test_show_prints_what_the_command_prints(in_rounds: eq.RunHandle, capsys: pytest.CaptureFixture[str]) -> None:
    in_rounds.show()
    printed = capsys.readouterr().out
    assert in_rounds.id in printed
    assert f"accuracy/merged {100 * (in_rounds.value or 0):.2f} %" in printed


def test_it_is_found_from_another_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EQUIPOISE_STORE", raising=False)
    run = eq.run("fedavg", TINY, rounds=1)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run.status == "done"
    assert (tmp_path / "runs" / "equipoise.db").is_file()


def test_an_empty_answer_is_a_frame_too(in_rounds: eq.RunHandle) -> None:
    assert in_rounds.metrics("no/such/metric").schema == in_rounds.metrics().schema
    assert isinstance(in_rounds.metrics("no/such/metric"), pl.DataFrame)
