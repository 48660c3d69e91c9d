"""Flower's histories: the objects of its own package where it is installed, and what is not a history."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from equipoise.core.errors import DataError
from equipoise.track.history import WantedRuns
from equipoise.track.sources import histories

RESULT = {
    "train_metrics_clientapp": {"1": {"train_loss": 2.0}, "2": {"train_loss": 1.0}},
    "evaluate_metrics_clientapp": {"1": {"accuracy": 0.5}},
    "evaluate_metrics_serverapp": {"0": {"accuracy": 0.1}, "2": {"accuracy": 0.6, "loss": 1.5}},
}
HISTORY = {
    "losses_distributed": [[1, 2.0]],
    "losses_centralized": [[0, 2.5], [1, 2.25]],
    "metrics_distributed_fit": {"train_loss": [[1, 1.75]]},
    "metrics_distributed": {"accuracy": [[1, 0.5]]},
    "metrics_centralized": {"accuracy": [[0, 0.1], [1, 0.4]]},
}


def written(folder: Path, content: Any) -> Path:
    path = folder / "history.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def curves(source: Any, **wanted: Any) -> dict[str, dict[int, float]]:
    """{name: {step: value}} of the server."""
    (found,) = histories(source, WantedRuns(**wanted))
    mine = {name: found.recording.server(name) for name in found.recording.curves}
    return {name: dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True)) for name, curve in mine.items()}


def test_a_result_is_read_with_its_rounds_as_steps(tmp_path: Path) -> None:
    assert curves(written(tmp_path, RESULT)) == {
        "train/train_loss": {1: 2.0, 2: 1.0},
        "evaluate/accuracy": {1: 0.5},
        "accuracy/merged": {0: 0.1, 2: 0.6},
        "server/loss": {2: 1.5},
    }


def test_a_history_is_read_likewise(tmp_path: Path) -> None:
    assert curves(written(tmp_path, HISTORY)) == {
        "evaluate/loss": {1: 2.0},
        "server/loss": {0: 2.5, 1: 2.25},
        "train/train_loss": {1: 1.75},
        "evaluate/accuracy": {1: 0.5},
        "accuracy/merged": {0: 0.1, 1: 0.4},
    }


def test_a_mapping_and_names_of_ones_own() -> None:
    assert curves(RESULT, names={"evaluate/accuracy": "accuracy/clients"})["accuracy/clients"] == {1: 0.5}


@pytest.mark.filterwarnings("ignore")
def test_the_objects_of_flower_itself() -> None:
    strategy = pytest.importorskip("flwr.serverapp.strategy")
    app = pytest.importorskip("flwr.app")
    result = strategy.Result(evaluate_metrics_serverapp={1: app.MetricRecord({"accuracy": 0.75, "counts": [1, 2]})})
    (found,) = histories(result, WantedRuns())
    assert found.recording.server("accuracy/merged").values.tolist() == [0.75]
    assert found.repairs == ["1 values that are not numbers left out, as server/counts"]
    from flwr.server.history import History

    history = History()
    history.add_metrics_centralized(1, {"accuracy": 0.5})
    assert curves(history) == {"accuracy/merged": {1: 0.5}}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "is not Flower's history"),
        ({"rounds": 3}, "is not Flower's history"),
        ({"losses_centralized": 3}, "a section has another shape"),
        ({"losses_centralized": [[1]]}, "a section has another shape"),
        ({"train_metrics_clientapp": {"1": 3}}, "a section has another shape"),
        ({"train_metrics_clientapp": {"one": {"x": 1.0}}}, "'one' is not a round"),
        ({"train_metrics_clientapp": {"1e999": {"x": 1.0}}}, "'1e999' is not a round"),
        ({"losses_centralized": [[-1, 2.0]]}, "has a step that is not a whole number from 0 on"),
        ({"losses_centralized": [[1, "much"]]}, "has no numbers"),
        ({"losses_centralized": []}, "has no numbers"),
    ],
)
def test_what_is_no_history_is_refused_in_words(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        histories(written(tmp_path, content), WantedRuns())
    assert caught.value.exit_code == 2


def test_a_pickle_is_refused_and_not_opened(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (Path(tmp_path / "ran").touch, ())

    (tmp_path / "history.pkl").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(DataError, match="reading a pickle can run any code"):
        histories(tmp_path / "history.pkl", WantedRuns())
    assert not (tmp_path / "ran").exists()


def test_names_of_any_content_and_numbers_of_any_size(tmp_path: Path) -> None:
    name = "<script>\u001b[31m\ud800" + "x" * 500
    content = {"evaluate_metrics_serverapp": {"1": {name: 0.5, "huge": 10**400, "yes": True}}}
    (found,) = histories(written(tmp_path, json.dumps(content)), WantedRuns())
    (kept,) = found.recording.curves
    assert kept.startswith("server/<script>\\x1b[31m\\xd800")
    assert len(kept) <= len("server/") + 200
    assert found.repairs == ["2 values that are not numbers left out, as server/huge"]
