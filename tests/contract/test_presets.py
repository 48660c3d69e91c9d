"""Every preset under presets/, in whatever folder: it loads, and it runs one round."""

from __future__ import annotations

import pytest

from equipoise.config.loader import PRESETS, SWEEP_KEYS, load, preset_names, read_yaml, to_yaml
from equipoise.config.schema import Config
from equipoise.run.grid import load_grid
from tests.conftest import records

SMALL = ("data.limit=100", "data.test_limit=30", "partition.clients=3", "client.epochs=1")
FILES = sorted(PRESETS.rglob("*.yaml"))


def is_sweep(name: str) -> bool:
    return any(key in read_yaml(PRESETS / f"{name}.yaml") for key in SWEEP_KEYS)


RUNS = [name for name in preset_names() if not is_sweep(name)]
SWEEPS = [name for name in preset_names() if is_sweep(name)]


def one_step(config: Config) -> Config:
    axis = "checkpoints=1" if config.is_one_shot else "rounds=1"
    return load(config.model_dump(), [*SMALL, axis]).config


def test_every_file_is_a_preset():
    assert len(RUNS) + len(SWEEPS) == len(FILES) > 10
    assert SWEEPS


@pytest.mark.parametrize("name", RUNS)
def test_a_preset_loads_and_runs_one_round(name):
    config = load(name).config
    (record,) = records(one_step(config))
    assert {row.name for row in record.rows} >= {"loss/base", "accuracy/validation"}


@pytest.mark.parametrize("name", SWEEPS)
def test_every_cell_of_a_sweep_loads_and_one_runs(name):
    grid = load_grid(name)
    assert len({cell.config.fingerprint() for cell in grid.cells}) == len(grid.cells)
    labels = list(dict.fromkeys(cell.label for cell in grid.cells))
    assert len(grid.cells) % len(labels) == 0
    (record,) = records(one_step(grid.cells[0].config))
    assert record.rows


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
