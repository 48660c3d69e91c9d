from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.core.errors import ConfigError, UnknownName
from equipoise.run.grid import load_grid


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> str:
        (tmp_path / "sweep.yaml").write_text(text)
        return str(tmp_path / "sweep.yaml")

    return write


def problems(source: str, *overrides: str, seeds: str | None = None) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_grid(source, overrides, seeds)
    return [str(problem) for problem in caught.value.problems]


def said(found: list[str], *beginnings: str) -> bool:
    """Whether there is one problem for each beginning, in any order."""
    return len(found) == len(beginnings) and all(any(text.startswith(b) for text in found) for b in beginnings)


PLAN = """
preset: fedavg
seeds: 2
base: {rounds: 3, partition.alpha: 0.05}
cells:
  plain: {}
  with μ: {method: fedprox, method.mu: 0.5}
grid: {num_clients: [4, 8], lr: [0.1]}
"""


def test_cells_times_grid_times_seeds(written):
    grid = load_grid(written(PLAN))
    found = [
        (cell.label, cell.config.method.name, cell.config.partition.clients, cell.config.seed) for cell in grid.cells
    ]
    assert found == [
        (f"{row} partition.clients={clients} client.lr=0.1", method, clients, seed)
        for row, method in (("plain", "fedavg"), ("with μ", "fedprox"))
        for clients in (4, 8)
        for seed in (0, 1)
    ]
    for cell in grid.cells:
        assert (cell.config.rounds, cell.config.partition.alpha, cell.config.client.lr) == (3, 0.05, 0.1)
    assert grid.cells[-1].config.method.mu == 0.5
    assert grid.data_path is None


def test_a_runs_name_is_its_cells_label_in_small_letters(written):
    grid = load_grid(written("cells: {One-Shot FedAvg: {}, 方法: {rounds: 2}, v1.2 (β): {rounds: 3}}\nseeds: 1\n"))
    assert [cell.config.name for cell in grid.cells] == ["one-shot-fedavg", "fedavg", "v1.2"]
    assert [cell.label for cell in grid.cells] == ["One-Shot FedAvg", "方法", "v1.2 (β)"]


def test_the_same_settings_twice_are_refused(written):
    with pytest.raises(ConfigError, match="the same settings stand in the sweep twice: one, two"):
        load_grid(written("cells: {one: {}, two: {}}\nseeds: 1\n"))


def test_a_preset_with_axes_from_the_command():
    grid = load_grid("fedavg", ["method=fedavg,fedprox", "alpha=0.05,0.5", "rounds=2"], seeds="1")
    assert [cell.label for cell in grid.cells] == [
        f"method={method} partition.alpha={alpha}" for method in ("fedavg", "fedprox") for alpha in (0.05, 0.5)
    ]
    assert {cell.config.rounds for cell in grid.cells} == {2}
    assert [cell.config.name for cell in grid.cells] == ["fedavg-0.05", "fedavg-0.5", "fedprox-0.05", "fedprox-0.5"]


def test_a_preset_alone_is_one_cell_under_its_name():
    grid = load_grid("one-shot/fedavg", seeds="2")
    assert [(cell.label, cell.config.seed) for cell in grid.cells] == [("one-shot-fedavg", 0), ("one-shot-fedavg", 1)]


def test_a_fixed_key_takes_the_axis_out_of_the_grid(written):
    grid = load_grid(written(PLAN), ["K=5"], seeds="1")
    assert {cell.config.partition.clients for cell in grid.cells} == {5}
    assert [cell.label for cell in grid.cells] == ["plain client.lr=0.1", "with μ client.lr=0.1"]


def test_an_axis_on_the_command_replaces_that_of_the_file(written):
    grid = load_grid(written(PLAN), ["K=2,3,6"], seeds="1")
    assert [cell.config.partition.clients for cell in grid.cells] == [2, 3, 6, 2, 3, 6]


def test_a_single_value_in_a_grid_is_an_axis_of_one(written):
    grid = load_grid(written("preset: fedavg\nseeds: 1\ngrid: {method: fedprox, alpha: 0.3}\n"))
    assert [cell.label for cell in grid.cells] == ["method=fedprox partition.alpha=0.3"]


def test_an_axis_may_be_a_block(written):
    grid = load_grid(written("preset: fedavg\nseeds: 1\ngrid: {partition: {alpha: [0.1, 1]}}\n"))
    assert [cell.config.partition.alpha for cell in grid.cells] == [0.1, 1]


def test_another_name_on_an_axis_drops_what_it_does_not_have():
    grid = load_grid("fedavg", ["partition=dirichlet,iid"], seeds="1")
    assert [cell.config.partition.name for cell in grid.cells] == ["dirichlet", "iid"]
    assert not hasattr(grid.cells[1].config.partition, "alpha")


def test_an_axis_of_a_setting_that_only_the_chosen_method_has():
    """`sweep fedavg method=fedprox mu=0.1,0.5` was refused: the name was applied last and dropped μ."""
    for settings in (["method=fedprox", "mu=0.1,0.5"], ["mu=0.1,0.5", "method=fedprox"]):
        methods = [cell.config.method for cell in load_grid("fedavg", settings, 1).cells]
        assert [(method.name, method.mu) for method in methods] == [("fedprox", 0.1), ("fedprox", 0.5)]
    methods = [cell.config.method for cell in load_grid("fedavg", ["method=fedprox,ditto", "rounds=2"], 1).cells]
    assert [method.name for method in methods] == ["fedprox", "ditto"]


def test_a_list_in_brackets_is_a_value_not_an_axis():
    assert said(problems("fedavg", "rounds=[1,2]"), "rounds: ")


def test_the_data_folder_from_the_command():
    assert load_grid("fedavg", ["data.path=/somewhere"], seeds="1").data_path == Path("/somewhere")


@pytest.mark.parametrize(
    ("given", "seeds"), [("3", [0, 1, 2]), ("1", [0]), ("0,1,7", [0, 1, 7]), ("[7]", [7]), ("9,", None)]
)
def test_seeds_are_a_count_or_a_list(given, seeds):
    if seeds is None:
        assert said(problems("fedavg", seeds=given), "seeds: expected a count such as 3")
    else:
        assert [cell.config.seed for cell in load_grid("fedavg", seeds=given).cells] == seeds


@pytest.mark.parametrize("given", ["0", "-2", "some", "a,b", "null", "1.5", "{}"])
def test_seeds_that_are_none(given):
    assert said(problems("fedavg", seeds=given), "seeds: ")


def test_seeds_of_a_file_and_three_by_default(written):
    assert [cell.config.seed for cell in load_grid(written("preset: fedavg\nseeds: [2, 5]\n")).cells] == [2, 5]
    assert [cell.config.seed for cell in load_grid("fedavg").cells] == [0, 1, 2]
    assert said(problems(written("preset: fedavg\nseeds: []\n")), "seeds: ")


@pytest.mark.parametrize("override", ["seed=5", "seed=5,6", "random_seed=1"])
def test_a_seed_beside_the_seeds_is_refused_not_ignored(override):
    assert said(problems("fedavg", override), "seed: a sweep runs several; give --seeds")


@pytest.mark.parametrize("text", ["base: {seed: 3}", "cells: {a: {seed: 3}}", "grid: {seed: [3, 4]}"])
def test_a_seed_in_a_sweep_file_is_refused_not_ignored(written, text):
    assert said(problems(written(f"preset: fedavg\n{text}\n")), "seed: a sweep runs several; give --seeds")


def test_errors_name_the_cell_once_for_all_seeds(written):
    found = problems(written("preset: fedavg\ncells: {good: {}, bad one: {alpha: -1, method.mux: 3}}\n"))
    assert said(found, "bad one: partition.alpha: ", "bad one: method.mux: ")
    assert said(problems("fedavg", "alpha=-1,2"), "partition.alpha=-1: partition.alpha: ")
    assert said(problems("fedavg", "alpha=-1"), "partition.alpha: ")


def test_every_bad_cell_is_listed(written):
    found = problems(written("preset: fedavg\ncells: {a: {alpha: -1}, b: {rounds: 0}}\ngrid: {lr: [0.1, -2]}\n"))
    assert said(
        found,
        "a client.lr=0.1: partition.alpha: ",
        "a client.lr=-2: partition.alpha: ",
        "a client.lr=-2: client.lr: ",
        "b client.lr=0.1: rounds: ",
        "b client.lr=-2: rounds: ",
        "b client.lr=-2: client.lr: ",
    )


def test_the_command_beats_the_file_whole_cells_included(written):
    text = "preset: fedavg\nseeds: 1\nbase: {rounds: 3}\ncells: {a: {alpha: 0.3}, b: {alpha: 0.4, lr: 0.1}}\n"
    grid = load_grid(written(text), ["alpha=0.9", "rounds=7"])
    assert [(cell.label, cell.config.partition.alpha, cell.config.rounds) for cell in grid.cells] == [
        ("a", 0.9, 7),
        ("b", 0.9, 7),
    ]
    assert grid.cells[1].config.client.lr == 0.1


@pytest.mark.parametrize("override", ["alpha=0.1,", "alpha=,0.1", "alpha=0.1,,0.2"])
def test_an_empty_value_on_an_axis(override):
    assert said(problems("fedavg", override), "alpha: an empty value in ")


def test_a_list_as_a_point_of_an_axis_is_a_problem_not_a_crash(written):
    assert said(
        problems(written("preset: fedavg\nseeds: 1\ngrid: {lr: [[0.1], 0.2]}\n")), "client.lr=[0.1]: client.lr: "
    )


def test_an_unknown_key_in_a_sweep(written):
    with pytest.raises(ConfigError, match=r"cell: unknown key in a sweep; did you mean 'cells'\?") as caught:
        load_grid(written("preset: fedavg\nseeds: 2\ncell: {}\n"))
    assert caught.value.where.endswith("sweep.yaml")


def test_cells_without_labels_are_refused(written):
    assert said(problems(written("preset: fedavg\ncells: [a, b]\n")), "cells: expected a label and settings")


def test_a_sweep_that_is_not_there():
    with pytest.raises(UnknownName, match="did you mean 'studies/demo'"):
        load_grid("studies/demoo")
