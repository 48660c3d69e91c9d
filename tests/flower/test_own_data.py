"""Machines that bring folders of their own: nobody else has their images, and the driver has none of them."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from equipoise.bench.machines import Machines
from equipoise.config.loader import load
from equipoise.core.errors import EngineError, PartitionError
from equipoise.engine.flower.machine import ClientMachine, versions
from equipoise.engine.flower.parcel import Parcel
from equipoise.engine.flower.policy import Policy
from equipoise.run.build import build, make_engine
from tests.conftest import records

pytestmark = pytest.mark.flower
CLASSES = ("dark", "light", "red")
COLOURS = {"dark": (20, 20, 20), "light": (230, 230, 230), "red": (220, 30, 30)}
SETTINGS = [
    "data=folder",
    "data.folder=.",
    "data.size=8",
    "partition=machines",
    "rounds=3",
    "model=mlp",
    "model.hidden=16",
    "client.epochs=2",
]


def pictures(folder, counts: dict[str, int], seed: int) -> None:
    """Noisy squares of one colour a class."""
    rng = np.random.default_rng(seed)
    for name, count in counts.items():
        (folder / name).mkdir(parents=True)
        for number in range(count):
            noise = rng.integers(-15, 16, (8, 8, 3))
            pixels = np.clip(np.array(COLOURS[name]) + noise, 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")


@pytest.fixture(scope="module")
def clinics(tmp_path_factory):
    """A driver with images of all classes, and two machines that know two classes each."""
    folder = tmp_path_factory.mktemp("clinics")
    pictures(folder / "driver", dict.fromkeys(CLASSES, 10), 0)
    pictures(folder / "north", {"dark": 15, "light": 20}, 1)
    pictures(folder / "south", {"light": 10, "red": 25}, 2)
    machines = Machines(folder / "federation", ["north", "south"])
    try:
        machines.serve()
        for name in ("north", "south"):
            machines.join(name, folder / name)
        for name in ("north", "south"):
            machines.ready(name)
        yield machines, folder
    finally:
        machines.close()


def config_of(clinics, *overrides: str):
    machines, folder = clinics
    given = [*SETTINGS, f"data.path={folder / 'driver'}", *machines.settings, "engine.machines=2", *overrides]
    request = load("fedavg", given)
    return request.config, request.data_path


def test_a_run_on_the_machines_own_folders(clinics):
    """Folders hold 80 % of their images for training: 12 and 16, 8 and 20."""
    federation = build(*config_of(clinics))
    assert federation.partition.ids == ("north", "south")
    assert federation.partition.counts.tolist() == [[12, 16, 0], [0, 8, 20]]
    assert not federation.site.train.inputs.any()
    steps = records(federation)
    scores = {row.name: row.value for row in steps[-1].rows if row.client is None}
    assert scores["accuracy/merged"] > 0.6  # colours are told apart at once; chance is 0.33
    assert "accuracy/probe" not in scores


def test_data_that_has_changed_since_the_run_began_is_noticed(clinics):
    config, data_path = config_of(clinics)
    federation = build(config, data_path)
    partition = federation.config.partition
    told = {name: each.model_copy(update={"digest": "0"}) for name, each in partition.told.items()}
    other = federation.config.model_copy(update={"partition": partition.model_copy(update={"told": told})})
    with pytest.raises(EngineError, match="another set, split or seed"):
        make_engine(build(other, data_path).site)


def test_another_number_of_machines_than_expected_is_refused(clinics):
    with pytest.raises(PartitionError, match=r"partition\.clients=1, and 2 machines have data"):
        build(*config_of(clinics, "partition.clients=1"))


def test_classes_that_the_federation_does_not_have_are_named(tmp_path):
    pictures(tmp_path / "own", {"dark": 5, "light": 5}, 3)
    config = load("fedavg", [*SETTINGS, "engine=flower"]).config.model_dump(mode="json")
    asked = Parcel({"do": "own", "versions": versions(), "config": config, "classes": ["light", "red"]})
    told = ClientMachine(tmp_path / "own", tmp_path, Policy(), "cpu").answer(asked).header
    assert "1 of its classes are not the federation's, as 'dark'" in told["refused"]
    kept = ClientMachine(tmp_path / "own", tmp_path, Policy(tells_counts=False), "cpu").answer(asked).header
    assert "its policy keeps its counts" in kept["refused"]
    nothing = ClientMachine(tmp_path / "nowhere", tmp_path, Policy(), "cpu").answer(asked).header
    assert "refused" in nothing
