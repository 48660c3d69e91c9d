"""Runs at a real MLflow server: every curve arrives, also when the server is killed, the run is stopped, or both."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import equipoise as eq
from equipoise.api.progress import Silent
from tests.trackers.conftest import MlflowServer

TINY = {"data.limit": 200, "model": "mlp", "client.epochs": 1, "partition.clients": 4}


def tracked(server: MlflowServer, experiment: str, **more: Any) -> dict[str, Any]:
    """Settings of a small run that is tracked in an experiment of its own."""
    track = {"to": ["mlflow"], "mlflow": {"uri": server.uri, "experiment": experiment}, "wait": 60, **more}
    return {**TINY, "track": track}


def wanted(run: eq.RunHandle) -> dict[tuple[str, int], float]:
    """Every number of the store by its name at MLflow."""
    rows = run.metrics().select("step", "client", "name", "value").rows()
    tags = [(name if client is None else f"client_{client}/{name}", step, value) for step, client, name, value in rows]
    return {(tag.replace("@", " at "), step): value for tag, step, value in tags}


def kinds(run: eq.RunHandle) -> list[str]:
    return [kind for kind in run.events["kind"].to_list() if kind.startswith("tracker")]


class At(Silent):
    """Does something after a checkpoint of the run, in the run's own thread."""

    def __init__(self, **deeds: Callable[[], None]) -> None:
        self.deeds = deeds

    def checkpoint(self, record: Any) -> None:
        self.deeds.get(f"step_{record.step}", lambda: None)()


def eventually(is_so: Callable[[], bool], seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.1)


def last_step(server: MlflowServer, experiment: str) -> int:
    runs = server.runs(experiment)
    return max((step for _, step in server.curves(runs[0].info.run_id)), default=-1) if runs else -1


def test_every_curve_of_every_client_is_at_the_server(server: MlflowServer, tmp_path: Path) -> None:
    run = eq.run("fedavg", tracked(server, "whole"), rounds=4, store=tmp_path / "s.db")
    (there,) = server.runs("whole")
    assert server.curves(there.info.run_id) == pytest.approx(wanted(run), nan_ok=True)
    assert there.info.status == "FINISHED"
    assert there.info.run_name == there.data.tags["equipoise.run_id"] == run.id
    assert there.data.params["client.epochs"] == "1"
    assert not [key for key in there.data.params if key.startswith("track.")]
    assert kinds(run) == ["tracker-opened"]


def test_a_server_that_is_killed_in_mid_run_loses_nothing_and_gets_the_rest_when_it_is_back(
    server: MlflowServer, tmp_path: Path
) -> None:
    seen = At(step_1=lambda: eventually(lambda: last_step(server, "killed") == 1), step_2=server.kill)
    run = eq.run("fedavg", tracked(server, "killed"), rounds=6, store=tmp_path / "s.db", progress=seen)
    assert run.status == "done"
    assert run.metrics("accuracy/merged")["step"].to_list() == [0, 1, 2, 3, 4, 5]
    assert kinds(run) == ["tracker-opened", "tracker-failed", "tracker-behind"]
    messages = dict(zip(run.events["kind"].to_list(), run.events["message"].to_list(), strict=True))
    lacking = sum(step > 1 for _, step in wanted(run))
    assert f"lacks {lacking} points, of the last 4 checkpoints" in messages["tracker-behind"]
    with pytest.raises(eq.TrackerError, match="failed"):
        eq.send(run)
    server.start()
    (sent,) = eq.send(run)
    assert sent.points == lacking
    (there,) = server.runs("killed")
    assert server.curves(there.info.run_id) == pytest.approx(wanted(run), nan_ok=True)
    assert there.info.status == "FINISHED"
    assert eq.send(run)[0].points == 0


def test_a_server_that_comes_back_during_the_run_gets_what_it_missed(server: MlflowServer, tmp_path: Path) -> None:
    place = tmp_path / "s.db"

    def away() -> None:
        server.kill()

    def back() -> None:
        run = eq.open_run(store=place)
        eventually(lambda: "tracker-failed" in kinds(run))
        server.start()
        eventually(lambda: "tracker-recovered" in kinds(run))

    run = eq.run("fedavg", tracked(server, "back"), rounds=6, store=place, progress=At(step_1=away, step_3=back))
    (there,) = server.runs("back")
    assert server.curves(there.info.run_id) == pytest.approx(wanted(run), nan_ok=True)
    assert kinds(run) in (
        ["tracker-opened", "tracker-failed", "tracker-recovered"],
        ["tracker-failed", "tracker-opened", "tracker-recovered"],
    )


def test_a_stopped_run_goes_on_in_the_same_run_of_the_server(server: MlflowServer, tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        eq.run("fedavg", tracked(server, "resumed"), rounds=5, store=tmp_path / "s.db", progress=At(step_2=stop))
    (there,) = server.runs("resumed")
    assert there.info.status == "KILLED"
    run = eq.resume("latest", store=tmp_path / "s.db")
    (again,) = server.runs("resumed")
    assert again.info.run_id == there.info.run_id
    assert again.info.status == "FINISHED"
    assert server.curves(again.info.run_id) == pytest.approx(wanted(run), nan_ok=True)


def test_a_run_that_was_deleted_there_is_sent_anew(server: MlflowServer, tmp_path: Path) -> None:
    run = eq.run("fedavg", tracked(server, "deleted"), rounds=2, store=tmp_path / "s.db")
    (there,) = server.runs("deleted")
    server.client().delete_run(there.info.run_id)
    eq.send(run)
    (anew,) = server.runs("deleted")
    assert anew.info.run_id != there.info.run_id
    assert server.curves(anew.info.run_id) == pytest.approx(wanted(run), nan_ok=True)


def test_of_many_clients_some_have_curves_and_all_a_mean(server: MlflowServer, tmp_path: Path) -> None:
    run = eq.run("fedavg", tracked(server, "some", per_client=2), rounds=2, store=tmp_path / "s.db")
    (there,) = server.runs("some")
    curves = server.curves(there.info.run_id)
    assert {name.split("/")[0] for name, _ in curves if name.startswith("client_")} == {"client_0", "client_1"}
    mean = run.metrics("loss/base").filter(pl.col("step") == 1)["value"].mean()
    assert curves["clients/loss/base", 1] == pytest.approx(mean)


def test_runs_come_back_from_server_and_database_with_the_same_findings(server: MlflowServer, tmp_path: Path) -> None:
    small = {**tracked(server, "round-trip"), "partition.clients": 3, "client.epochs": 16, "checkpoints": 8}
    v12 = {"balance": "v12", "method.start": "anchor", "method.logits": "cosine", "client.schedule": "cosine"}
    ours = eq.run("etf-align", {**small, **v12, "balance.sigma.lr": 0.2}, store=tmp_path / "s.db")
    for source in (server.uri, server.database):
        (theirs,) = eq.import_runs(source, experiment="round-trip", store=tmp_path / f"{Path(str(source)).name}.db")
        assert wanted(theirs) == pytest.approx(wanted(ours), nan_ok=True)
        seen, own = eq.diagnose(theirs), eq.diagnose(ours)
        there = [each.code for each in own.findings if each.code not in seen.not_examined]
        assert [each.code for each in seen.findings] == there
        assert "lambda-runaway" in there
        assert theirs.record.environment["imported"]["tool"] == "mlflow"
        assert theirs.record.environment["facts"]["classes"] == 10
