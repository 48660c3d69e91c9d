"""Data without code: a folder of images, arrays, a split from a file and a scenario, as a user brings them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands import Equipoise
from tests.unit.data.pictures import write_folder

SMALL = ["model=mlp", "model.hidden=8", "rounds=2", "client.batch=8"]
PETS = ["data=folder", "data.folder=pets"]
SPLIT = ["partition=file", "partition.file=who.csv"]


@pytest.fixture
def pets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixty greyscale pictures of three classes to train on, and a split of them among three named sites."""
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))
    counts = {f"{part}/{name}": n for part, n in (("train", 20), ("test", 5)) for name in ("cat", "dog", "owl")}
    write_folder(tmp_path / "data" / "pets", counts, mode="L", size=(8, 8))
    rows = ["sample,client", *(f"{i},{('leiden', 'oslo', 'porto')[i % 3]}" for i in range(60))]
    (tmp_path / "data" / "who.csv").write_text("\n".join(rows))
    return tmp_path / "data"


def recorded(equipoise: Equipoise) -> list:
    return json.loads(equipoise("ls", "--json", code=0).out)


def test_a_run_on_a_folder_with_a_split_file_and_a_scenario(equipoise: Equipoise, pets: Path) -> None:
    given = [*PETS, *SPLIT, "scenario.label_noise=0.25", "scenario.shift=rotation", "engine.together=1", *SMALL]
    run = json.loads(equipoise("run", "fedavg", *given, "--json", EQUIPOISE_DATA=str(pets)).out)
    assert run["status"] == "done"
    assert (run["config"]["data"]["folder"], run["config"]["partition"]["clients"]) == ("pets", None)
    assert set(run["metrics"]) >= {"accuracy/merged", "recall/2"}
    events = {event["kind"]: event["message"] for event in run["events"]}
    assert "3 clients, in this order: leiden, oslo, porto" in events["split-file"]
    assert "scenario on 3 of 3 clients" in events["scenario"]
    assert "rotation of strength 0.5" in events["scenario"]
    again = json.loads(equipoise("run", "fedavg", *given, "engine=processes", "--json", EQUIPOISE_DATA=str(pets)).out)
    assert again["metrics"] == run["metrics"]
    assert again["partition"] == run["partition"]


def test_a_sweep_does_not_take_runs_of_another_split(equipoise: Equipoise, pets: Path) -> None:
    def swept() -> dict:
        asked = ["sweep", "fedavg", *PETS, *SPLIT, *SMALL, "--seeds", "1", "-j", "1", "--json"]
        return json.loads(equipoise(*asked, EQUIPOISE_DATA=str(pets)).out)

    first = swept()["runs"]
    assert swept()["runs"] == first
    text = (pets / "who.csv").read_text()
    (pets / "who.csv").write_text(text.replace("0,leiden", "0,oslo", 1))
    assert swept()["runs"] != first


def test_a_split_is_drawn_written_and_read_again(equipoise: Equipoise, pets: Path, tmp_path: Path) -> None:
    record = equipoise("partition", "fedavg", *PETS, *SPLIT, "-o", "who.svg", EQUIPOISE_DATA=str(pets)).out
    assert "leiden" in record
    assert (tmp_path / "who.svg").read_text().startswith("<svg")
    for name in ("split.csv", "split.parquet", "split.npy"):
        made = json.loads(equipoise("partition", "fedavg", "-o", name, "--json").out)
        used = json.loads(equipoise("partition", "fedavg", "partition=file", f"partition.file={name}", "--json").out)
        assert used["fingerprint"] == made["fingerprint"]
    with (tmp_path / "split.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1438
    assert sum(row["client"] != "" for row in rows) == made["samples"]


def test_arrays_run_too(equipoise: Equipoise, pets: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(pets / "x.npz", images=rng.integers(0, 256, (40, 8, 8, 3), dtype=np.uint8), labels=np.arange(40) % 2)
    out = equipoise("run", "fedavg", "data=npz", "data.file=x.npz", *SMALL, "--json", EQUIPOISE_DATA=str(pets)).out
    assert json.loads(out)["status"] == "done"
    report = json.loads(equipoise("data", "check", "npz", "data.file=x.npz", "--path", str(pets), "--json").out)
    assert (report["shape"], report["splits"]["test"]["count"]) == ([3, 8, 8], 8)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            [*PETS, "partition.clients=4", *SPLIT],
            "partition.clients=4, and the file has 3 clients: leiden, oslo, porto",
        ),
        ([*PETS, *SPLIT, "partition.ids=[oslo, porto]"], "1 clients of the file are not in partition.ids: leiden"),
        (["data=digits", *SPLIT], "1378 of 1438 samples are missing"),
        (["data=folder", "data.folder=dogs"], "the folder of images dogs was not found"),
        ([*PETS, "data.test_share=0.5"], "would do nothing"),
        ([*PETS, "scenario.shift=blur", "partition=drawn"], "a scenario changes each client's own"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    refused: Equipoise, pets: Path, overrides: list[str], message: str
) -> None:
    assert message in " ".join(refused("run", "fedavg", *overrides, EQUIPOISE_DATA=str(pets)).err.split())
    assert recorded(refused) == []


def test_a_split_that_overlaps_writes_nothing(refused: Equipoise, pets: Path, tmp_path: Path) -> None:
    with (pets / "who.csv").open("a") as file:
        file.write("\n7,porto")
    said = refused("run", "fedavg", *PETS, *SPLIT, EQUIPOISE_DATA=str(pets)).err
    assert "1 samples are given more than once: 7; sample 7 to oslo, porto" in " ".join(said.split())
    assert recorded(refused) == []
    refused("partition", "fedavg", *PETS, *SPLIT, "-o", "who.svg", EQUIPOISE_DATA=str(pets))
    assert not (tmp_path / "who.svg").exists()


def test_a_broken_picture_writes_nothing(refused: Equipoise, pets: Path, tmp_path: Path) -> None:
    (pets / "pets" / "train" / "dog" / "03.png").write_bytes(b"broken")
    said = refused("run", "fedavg", *PETS, EQUIPOISE_DATA=str(pets)).err
    assert "dog/03.png (6 bytes) is not a whole image" in " ".join(said.split())
    assert recorded(refused) == []
    assert not (tmp_path / "cache").exists()
