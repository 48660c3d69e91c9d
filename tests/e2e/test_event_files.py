"""TensorBoard's event files, as `run --tensorboard` writes them and `diagnose` reads them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.e2e.conftest import TINY, Equipoise


def test_event_files_tell_the_same(equipoise: Equipoise, tmp_path: Path) -> None:
    document = equipoise("run", "fedavg", *TINY, "rounds=2", "--tensorboard", "events", "--json").json
    (file,) = (tmp_path / "events" / document["run_id"]).iterdir()
    seen = equipoise("diagnose", str(file), "--json").json
    assert seen["run"] == document["run_id"]
    assert "accuracy-drop" not in seen["passed"]
    from equipoise.diagnose.tensorboard import read_events

    rows = read_events(file)
    last = rows.filter((pl.col("name") == "accuracy/merged") & (pl.col("step") == 1))["value"].item()
    assert last == pytest.approx(document["metrics"]["accuracy/merged"])
    assert rows.filter((pl.col("client") == "3") & (pl.col("name") == "loss/base")).height == 2
