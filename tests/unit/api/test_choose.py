from __future__ import annotations

from pathlib import Path

import pytest

import equipoise as eq


def test_runs_are_listed_newest_first(shared: Path, in_rounds: eq.RunHandle, one_upload: eq.RunHandle) -> None:
    known = eq.runs(store=shared)
    assert {in_rounds, one_upload} <= set(known)
    created = [run.record.created for run in known]
    assert created == sorted(created, reverse=True)
    assert eq.runs(status="failed", store=shared) == []


def test_a_run_is_opened_by_the_beginning_of_its_id(shared: Path, in_rounds: eq.RunHandle) -> None:
    assert eq.open_run(in_rounds.id[:-1], store=shared) == in_rounds


def test_what_is_not_there(shared: Path, in_rounds: eq.RunHandle, place: Path) -> None:
    with pytest.raises(eq.NoSuchRun, match="there is no run 'fedavgg-xx'"):
        eq.open_run("fedavgg-xx", store=shared)
    with pytest.raises(eq.NoSuchRun, match="there is no store"):
        eq.open_run("latest", store=place)
    with pytest.raises(eq.UnknownName, match="status 'dun' is not known"):
        eq.runs(status="dun", store=shared)
    with pytest.raises(eq.UnknownName, match="sweep 'grid' is not known"):
        eq.compare(sweep="grid", store=shared)


def test_a_store_that_is_not_there_yet_has_no_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EQUIPOISE_STORE", raising=False)
    assert eq.runs() == []
    assert list(tmp_path.iterdir()) == []


def test_runs_of_two_stores_stand_in_no_table(in_rounds: eq.RunHandle, place: Path) -> None:
    with pytest.raises(eq.ConfigError, match="the runs are in 2 stores"):
        eq.compare([in_rounds, eq.RunHandle("fedavg-000000", str(place))])
