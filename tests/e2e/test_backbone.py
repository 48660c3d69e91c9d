"""A backbone made here, and features from a file, as a user brings them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import equipoise as eq
from equipoise.core.loading import LOADED
from tests.backbones import save, trained, written
from tests.commands import Equipoise

HEADS = ["afl", "fed3r", "fedcgs", "safle"]
NAMED = ["model=backbone", "model.factory=mine.py:cnn", "model.weights=mine.safetensors"]
SMALL = ["data.limit=400", "data.test_limit=100"]


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(LOADED, "plugins", dict(LOADED.plugins))
    written(tmp_path)
    yield tmp_path
    sys.modules.pop("mine", None)


@pytest.mark.parametrize("method", HEADS)
def test_every_head_runs_on_a_backbone(method: str, equipoise: Equipoise) -> None:
    run = json.loads(equipoise("run", method, *NAMED, *SMALL, "--json").out)
    assert run["status"] == "done"
    assert run["metrics"]["accuracy/merged"] > 0.5
    assert run["config"]["model"]["sha256"]
    (code,) = run["config"]["plugins"]
    assert code["name"] == "mine"
    assert code["sha256"]


def test_workers_give_the_same_run(equipoise: Equipoise) -> None:
    here, there = (
        json.loads(equipoise("run", "afl", *NAMED, *SMALL, engine, "--json").out)
        for engine in ("engine=local", "engine=processes")
    )
    assert here["metrics"] == there["metrics"]


def test_a_linear_probe_under_rounds_is_made_longer_and_refuses_other_weights(equipoise: Equipoise, mine: Path) -> None:
    run = json.loads(equipoise("run", "fedavg", *NAMED, *SMALL, "rounds=1", "--json").out)
    longer = equipoise("resume", run["run_id"], "--rounds", "2")
    assert longer.code == 0
    before = (mine / "mine.safetensors").read_bytes()
    save(trained(seed=1), mine / "mine.safetensors")
    refused = equipoise("resume", run["run_id"], "--rounds", "3", code=2)
    assert "the weights mine.safetensors are not what they were" in refused.err
    (mine / "mine.safetensors").write_bytes(before)
    file = mine / "mine.py"
    file.write_text(file.read_text() + "\n# other code\n")
    refused = equipoise("resume", run["run_id"], "--rounds", "3", code=2)
    assert "plugin 'mine' is not what it was" in refused.err


def test_settings_that_a_run_shows_are_a_run_again(equipoise: Equipoise, mine: Path) -> None:
    first = json.loads(equipoise("run", "afl", *NAMED, *SMALL, "--json").out)
    (mine / "again.yaml").write_text(equipoise("show", "latest", "--config").out)
    again = json.loads(equipoise("run", "again.yaml", "--json").out)
    assert again["metrics"] == first["metrics"]


def test_its_model_is_a_module_in_python_and_refused_as_a_file(
    equipoise: Equipoise, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = json.loads(equipoise("run", "afl", *NAMED, *SMALL, "--json").out)
    refused = equipoise("export", "latest", "--to", "torch", "-o", "out", code=2)
    assert "is code and weights of yours" in refused.err
    monkeypatch.chdir(mine)
    model = eq.open_run(run["run_id"]).model()
    stored = torch.randint(0, 255, (3, 1, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    assert model(stored).sum(1).tolist() == pytest.approx([1, 1, 1])


def test_the_bucketed_head_leaves_as_a_file(equipoise: Equipoise, mine: Path) -> None:
    equipoise("run", "safle", "model=cnn", "model.width=4", "model.features=8", *SMALL)
    equipoise("export", "latest", "--to", "torch", "-o", "out")
    assert (mine / "out" / "model.py").is_file()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["model.weights=other.safetensors"], "the weights other.safetensors cannot be read"),
        (["model.weights=mine.pt"], "never unpickled"),
        (["model.factory=mine.py:cmm"], "'cmm' of mine is not there"),
        (["model.factory=other.py:cnn"], "there is no plugin file"),
        (["model.arguments.width=5"], "8 shapes differ"),
        (["model.arguments.depth=5"], "unexpected keyword argument 'depth'"),
    ],
)
def test_what_cannot_be_used_ends_with_exit_code_2(given: list[str], says: str, equipoise: Equipoise) -> None:
    keys = {text.split("=")[0] for text in given}
    rest = [text for text in NAMED if text.split("=")[0] not in keys]
    refused = equipoise("run", "afl", *rest, *given, code=2)
    assert says in refused.err
    assert "next:" in refused.err


def test_features_from_a_file_are_described_and_run(equipoise: Equipoise, mine: Path) -> None:
    rng, labels = np.random.default_rng(0), np.arange(300) % 3
    rows = rng.normal(size=(300, 6)) + 2 * np.eye(6)[labels]
    np.savez(mine / "rows.npz", features=rows, labels=labels)
    assert "features" in equipoise("data", "check", "features", "data.file=rows.npz").out
    for method in HEADS:
        given = ["data=features", "data.file=rows.npz", "data.scale=columns", "partition.clients=4"]
        run = json.loads(equipoise("run", method, *given, "--json").out)
        assert run["metrics"]["accuracy/merged"] > 0.8
        assert run["config"]["model"]["name"] == "linear"
