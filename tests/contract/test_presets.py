"""Every preset under presets/, in whatever folder: it loads, and it runs one round."""

from __future__ import annotations

import pytest

from equipoise.config.blocks import InteractionOptions
from equipoise.config.loader import PRESETS, SWEEP_KEYS, load, preset_names, read_yaml, to_yaml
from equipoise.config.schema import Config
from equipoise.method.resolve import resolve
from equipoise.run.grid import load_grid
from tests.conftest import later_wins, needs, records

SMALL = ("data.limit=100", "data.test_limit=30", "partition.clients=2", "client.epochs=1")
HERE = {"digits", "synthetic"}
"""Data that needs no files."""
FILES = sorted(PRESETS.rglob("*.yaml"))


def is_sweep(name: str) -> bool:
    return any(key in read_yaml(PRESETS / f"{name}.yaml") for key in SWEEP_KEYS)


RUNS = [name for name in preset_names() if not is_sweep(name)]
SWEEPS = [name for name in preset_names() if is_sweep(name)]
SCALES = [(name, scale) for name in SWEEPS for scale in read_yaml(PRESETS / f"{name}.yaml").get("scales", {None: {}})]


def one_step(config: Config) -> Config:
    """On digits or generated histories, with a small model, where the data is not at hand."""
    axis = "checkpoints=1" if config.is_one_shot else "rounds=1"
    if isinstance(config.data, InteractionOptions):
        small = {**config.model_dump(), "data": {"name": "planted", "users": 20, "length": 20, "items": 150}}
        return load(small, [axis]).config
    data = () if config.data.name in HERE else ("data=digits", "model=cnn")
    return load(config.model_dump(), later_wins(*SMALL, axis, *data, *needs(config.method.name))).config


def test_every_file_is_a_preset():
    assert len(RUNS) + len(SWEEPS) == len(FILES) > 10
    assert SWEEPS


@pytest.mark.parametrize("name", RUNS)
def test_a_preset_loads_and_runs_one_round(name):
    config = load(name).config
    (record,) = records(one_step(config))
    names = {row.name for row in record.rows}
    assert ("hr@10/full" if isinstance(config.data, InteractionOptions) else "accuracy/validation") in names
    assert ("loss/base" in names) == resolve(config).trains


@pytest.mark.parametrize(("name", "scale"), SCALES)
def test_every_cell_of_a_sweep_loads_and_one_runs(name, scale):
    grid = load_grid(name, [f"scale={scale}"] if scale else [])
    assert len({cell.config.fingerprint() for cell in grid.cells}) == len(grid.cells)
    labels = list(dict.fromkeys(cell.label for cell in grid.cells))
    assert len(grid.cells) % len(labels) == 0
    for cell in grid.cells:
        assert resolve(cell.config).balance is not None, cell.label
    (record,) = records(one_step(grid.cells[0].config))
    assert record.rows


def test_a_study_has_a_small_and_a_full_scale():
    assert {name: [scale for other, scale in SCALES if other == name] for name in SWEEPS} == {
        name: [None] if name.startswith("studies/demo") else ["small", "full"] for name in SWEEPS
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_preset_is_short_and_says_how_to_run_it(path):
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(PRESETS).with_suffix(""))
    command = "sweep" if is_sweep(name) else "run"
    assert len(text.splitlines()) <= 40
    assert text.startswith("# ")
    assert f"equipoise {command} {name}" in text.splitlines()[0]


@pytest.mark.parametrize("name", RUNS)
def test_a_preset_is_told_apart_by_its_name(name):
    assert load(name).config.name == name.replace("/", "-")
    assert to_yaml(load(name).config)
