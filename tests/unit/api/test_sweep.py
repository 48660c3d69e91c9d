from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.run import cell_processes as room
from equipoise.run.places import Place
from tests.commands import CellHere

from .conftest import TINY


@pytest.fixture(autouse=True)
def cells_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "Child", CellHere)


def test_a_list_is_an_axis(place: Path) -> None:
    seen: list[int] = []

    def follow(places: Sequence[Place]) -> None:
        seen.append(sum(each.state == "done" for each in places))

    found = eq.sweep(
        "fedavg", TINY, method=["fedavg", "fedprox"], rounds=1, seeds=[3, 5], jobs=1, store=place, progress=follow
    )
    assert [place.cell.label for place in found.places] == ["method=fedavg"] * 2 + ["method=fedprox"] * 2
    assert [run.config.seed for run in found.runs] == [3, 5, 3, 5]
    assert found.table()["n"].to_list() == [2, 2]
    assert seen[-1] == 4
    metrics = found.metrics("accuracy/merged")
    assert metrics.columns == ["run", "label", "seed", "step", "round", "client", "name", "value"]
    assert set(zip(metrics["label"], metrics["seed"], strict=True)) == {
        (label, seed) for label in ("method=fedavg", "method=fedprox") for seed in (3, 5)
    }
    again = eq.sweep("fedavg", TINY, method=["fedavg", "fedprox"], rounds=1, seeds=[3, 5], jobs=1, store=place)
    assert again.runs == found.runs, "what is done is not run again"
    assert eq.compare(sweep=found.name, store=place).table().equals(found.table(), null_equal=True)
    assert repr(found) == "<sweep fedavg: 4 of 4 runs done>"


def test_a_block_can_be_a_value_on_an_axis(place: Path) -> None:
    blocks = [{"name": "mlp", "hidden": 8}, {"name": "mlp", "hidden": 16}]
    small = {key: value for key, value in TINY.items() if not key.startswith("model")}
    found = eq.sweep("fedavg", small, model=blocks, rounds=1, seeds=1, jobs=1, store=place)
    assert [run.config.model.model_dump()["hidden"] for run in found.runs] == [8, 16]


def test_a_cell_that_fails_is_warned_of_and_kept_apart(place: Path) -> None:
    with pytest.warns(UserWarning, match="1 of 2 cells of sweep 'fedavg' failed"):
        found = eq.sweep("fedavg", TINY, lr=[0.1, 1e30], rounds=1, seeds=1, jobs=1, store=place)
    assert len(found.runs) == 1
    (failed,) = found.failed
    assert failed["cell"] == "client.lr=1e+30"
    assert "no client gave an update" in failed["error"]
    assert "client.lr=1e+30" in found._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nothing = eq.sweep("fedavg", TINY, lr=1e30, rounds=1, seeds=1, jobs=1, store=place)
    with pytest.raises(eq.ConfigError, match="no cell of sweep"):
        nothing.table()
    assert "0 of 1 runs done" in nothing._repr_html_()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seeds": 0}, "expected a count such as 3"),
        ({"seeds": []}, "expected a count such as 3"),
        ({"seed": 1}, "a sweep runs several"),
        ({"methd": ["fedavg"]}, "did you mean 'method'"),
        ({"scale": "small"}, "this sweep has none"),
    ],
)
def test_a_wrong_sweep_is_our_error(place: Path, given: dict[str, object], words: str) -> None:
    with pytest.raises(eq.ConfigError, match=words):
        eq.sweep("fedavg", store=place, **given)  # type: ignore[arg-type]
    assert not place.exists()
