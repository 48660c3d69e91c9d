"""How large a study is run, and axes whose values are whole blocks."""

from __future__ import annotations

import pytest

from equipoise.core.errors import ConfigError
from equipoise.run.grid import load_grid


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> str:
        (tmp_path / "sweep.yaml").write_text(text)
        return str(tmp_path / "sweep.yaml")

    return write


STUDY = """
preset: fedavg
seeds: 1
base: {rounds: 3, client.lr: 0.2}
scales:
  small: {data.limit: 100, client: {batch: 8}}
  full: {client.lr: 0.05, model: resnet18}
cells: {plain: {}, large batch: {client.batch: 64}}
"""


def settings(grid) -> list[tuple[str, int | None, float, int]]:
    configs = [cell.config for cell in grid.cells]
    return [(c.model.name, c.data.limit, c.client.lr, c.client.batch) for c in configs]


def test_the_first_scale_unless_given(written):
    grid = load_grid(written(STUDY))
    model = load_grid("fedavg").cells[0].config.model.name
    assert settings(grid) == [(model, 100, 0.2, 8), (model, 100, 0.2, 64)]  # a cell beats the scale
    assert [cell.label for cell in grid.cells] == ["plain", "large batch"]


def test_the_scale_on_the_command_chooses_and_beats_the_base(written):
    grid = load_grid(written(STUDY), ["scale=full"])
    assert settings(grid) == [("resnet18", None, 0.05, 32), ("resnet18", None, 0.05, 64)]
    assert {cell.config.rounds for cell in grid.cells} == {3}


def test_the_command_beats_the_scale_and_the_last_choice_counts(written):
    grid = load_grid(written(STUDY), ["scale=full", "data.limit=50", "scale=small", "lr=0.3"])
    assert [(limit, lr, batch) for _, limit, lr, batch in settings(grid)] == [(50, 0.3, 8), (50, 0.3, 64)]


def test_sweeps_at_two_scales_have_two_names(written):
    path = written(STUDY)
    assert load_grid(path).name == f"{path} scale=small"
    assert load_grid(path, ["scale=full"]).name == f"{path} scale=full"
    assert load_grid("fedavg").name == "fedavg"


def test_an_unknown_scale_suggests_the_nearest(written):
    with pytest.raises(ConfigError, match=r"scale 'ful' is not known; did you mean 'full'\?"):
        load_grid(written(STUDY), ["scale=ful"])
    with pytest.raises(ConfigError, match=r"scale 'x' is not known; known: full, small"):
        load_grid(written(STUDY), ["scale=x"])


@pytest.mark.parametrize("source", ["fedavg", "preset: fedavg\nseeds: 1\n"])
def test_a_scale_for_a_sweep_that_has_none_is_an_error(written, source):
    with pytest.raises(ConfigError, match="scale 'full' is not known; this sweep has none"):
        load_grid(source if source == "fedavg" else written(source), ["scale=full"])


def test_a_scale_that_says_nothing(written):
    grid = load_grid(written("preset: fedavg\nseeds: 1\nscales: {small: , full: {rounds: 7}}\n"))
    assert [cell.config for cell in grid.cells] == [
        cell.config.model_copy(update={"name": grid.cells[0].config.name})
        for cell in load_grid("fedavg", seeds="1").cells
    ]


@pytest.mark.parametrize("key", ["clint.lr", "client.lrr"])
def test_an_unknown_key_in_a_scale_is_named(written, key):
    with pytest.raises(ConfigError, match=key.split(".", maxsplit=1)[0]):
        load_grid(written(f"preset: fedavg\nscales: {{small: {{{key}: 1}}}}\n"))


def test_a_seed_in_a_scale_is_refused_not_ignored(written):
    with pytest.raises(ConfigError, match="a sweep runs several; give --seeds"):
        load_grid(written("preset: fedavg\nscales: {small: {seed: 3}}\n"))


@pytest.mark.parametrize("scales", ["[small, full]", "small"])
def test_scales_without_settings_are_a_problem_not_a_crash(written, scales):
    with pytest.raises(ConfigError, match="scales"):
        load_grid(written(f"preset: fedavg\nscales: {scales}\n"))


BLOCKS = """
preset: fedavg
seeds: 1
base: {data.limit: 60}
grid:
  data: [digits, {name: synthetic, size: 12, classes: 4}]
  client: [{lr: 0.1, batch: 16}, {lr: 0.2}]
"""


def test_a_value_on_an_axis_may_be_a_whole_block(written):
    grid = load_grid(written(BLOCKS))
    configs = [cell.config for cell in grid.cells]
    assert [(c.data.name, c.data.limit, c.client.lr, c.client.batch) for c in configs] == [
        (data, 60, lr, batch) for data in ("digits", "synthetic") for lr, batch in ((0.1, 16), (0.2, 32))
    ]
    assert {(c.data.size, c.data.classes) for c in configs if c.data.name == "synthetic"} == {(12, 4)}


def test_a_block_is_shown_by_its_values(written):
    assert [cell.label for cell in load_grid(written(BLOCKS)).cells] == [
        f"data={data} client={client}" for data in ("digits", "synthetic 12 4") for client in ("0.1 16", "0.2")
    ]


def test_a_fixed_name_takes_an_axis_of_blocks_away(written):
    grid = load_grid(
        written("preset: fedavg\nseeds: 1\ngrid: {data: [digits, {name: synthetic, size: 12}]}\n"), ["data=digits"]
    )
    assert [cell.config.data.name for cell in grid.cells] == ["digits"]


def test_another_name_in_a_block_drops_what_it_does_not_have(written):
    text = "preset: fedavg\nseeds: 1\nbase: {data: {name: synthetic, size: 12}}\n"
    grid = load_grid(written(f"{text}grid: {{data: [{{name: digits}}, synthetic]}}\n"))
    first, second = (cell.config.data for cell in grid.cells)
    assert first.name == "digits"
    assert not hasattr(first, "size")
    assert (second.name, second.size) == ("synthetic", 12)


def test_a_problem_inside_a_block_names_its_cell(written):
    with pytest.raises(ConfigError, match=r"data=synthetic -1: data\.size: "):
        load_grid(written("preset: fedavg\nseeds: 1\ngrid: {data: [digits, {name: synthetic, size: -1}]}\n"))
