"""What pictures show, from recordings whose numbers can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from equipoise.diagnose.recording import Curve, Recording
from equipoise.report.draw import draw
from equipoise.report.figure import BarChart, ChartLine, Figure, Heatmap, LineChart, ScatterChart
from equipoise.report.figures import figure_functions, figures
from equipoise.report.figures.features import nearby, plane
from equipoise.report.figures.geometry import unit
from equipoise.report.markdown import markdown_of
from equipoise.report.source import FigureSource
from equipoise.report.words import words
from equipoise.store.records import PartitionRecord, Run
from tests.unit.diagnose.runs import run_of

SAY = words("en")
RUN = Run(
    run_id="x-000000", name="x", method="fedavg", seed=0, config={}, config_hash="", headline="hr@10/full", version="0",
    status="done", created="", updated="", finished=None, error=None, partition=None,
)  # fmt: skip


def made(recording: Recording, pictures: dict[str, Any] | None = None, **rest: Any) -> dict[str, Figure]:
    run = replace(RUN, config=rest.get("config", {}))
    source = FigureSource(run, recording, rest.get("partition"), pictures or {}, rest.get("projection", "pca"))
    return {figure.key: figure for figure in figures(source, SAY)}


def test_nothing_recorded_is_nothing_shown() -> None:
    assert made(run_of()) == {}


def test_each_client_has_its_lambda_up_to_ten_of_them_and_bounds_are_drawn() -> None:
    lam = {client: [1.0, 2.0, 4.0 + client] for client in range(10)}
    figure = made(run_of({"lam/used": lam, "schedule": {0: [1.0, 0.5, 0.0]}}, cap=9.0, lam_max=50.0))["lam"]
    assert isinstance(figure, LineChart)
    assert figure.is_log
    assert [line.name for line in figure.lines] == [f"client {k}" for k in range(10)] + ["schedule s"]
    assert list(figure.lines[3].steps) == [1, 2, 3]
    assert list(figure.lines[3].values) == [1.0, 2.0, 7.0]
    assert figure.bounds == {"cap of the first losses": 9.0, "λmax": 50.0}


def test_many_clients_are_a_median_in_a_band_between_the_lowest_and_the_highest() -> None:
    figure = made(run_of({"lam/used": {client: [client + 1.0] for client in range(21)}}))["lam"]
    assert isinstance(figure, LineChart)
    middle, lowest, highest = figure.lines
    assert (middle.values, middle.low, middle.high) == ([11.0], [3.0], [19.0])  # of 1 … 21
    assert (lowest.values, highest.values) == ([1.0], [21.0])
    assert figure.note.startswith("21 clients: median")


def test_many_clients_with_one_lambda_are_one_line() -> None:
    figure = made(run_of({"lam/used": {client: [0.1, 0.1] for client in range(21)}}))["lam"]
    assert isinstance(figure, LineChart)
    assert [line.name for line in figure.lines] == ["median of clients"]
    assert figure.note == "21 clients, all alike."


@pytest.mark.parametrize("n_clients", [5, 21])
def test_lambda_by_client_was_drawn_twice_as_lines_and_as_a_grid(n_clients: int) -> None:
    found = made(run_of({"lam/used": {client: [1.0, client + 1.0] for client in range(n_clients)}}))
    assert list(found) == ["lam"]


def test_a_lambda_that_is_zero_throughout_is_no_picture() -> None:
    assert "lam" not in made(run_of({"lam/used": [0.0, 0.0]}))


def test_grids_take_means_of_neighbouring_checkpoints_and_leave_gaps_open() -> None:
    steps = np.arange(80)
    curves = {0: Curve(0, steps, steps.astype(float)), 7: Curve(7, steps[:2], np.array([5.0, 7.0]))}
    figure = made(Recording("x", {"loss/base": curves}))["client-loss"]
    assert isinstance(figure, Heatmap)
    assert list(figure.rows) == ["0", "7"]
    assert list(figure.columns)[:3] == ["1", "3", "5"]
    assert figure.values[0, :3].tolist() == [0.5, 2.5, 4.5]
    assert figure.values[1, 0] == 6.0
    assert np.isnan(figure.values[1, 1:]).all()
    assert "mean of 2 checkpoints" in figure.note


def test_hundreds_of_clients_are_thinned_and_it_is_said() -> None:
    figure = made(run_of({"loss/base": {client: [1.0] for client in range(300)}}))["client-loss"]
    assert isinstance(figure, Heatmap)
    assert len(figure.rows) == 100
    assert figure.note == "100 of 300 clients are shown."


def test_recall_has_its_classes_in_their_order() -> None:
    figure = made(run_of(server={f"recall/{c}": [0.0, c / 10] for c in range(11)}))["recall"]
    assert isinstance(figure, Heatmap)
    assert list(figure.rows) == [str(c) for c in range(11)]
    assert figure.values[10].tolist() == [0.0, 1.0]


def test_the_partition_is_what_the_store_says() -> None:
    partition = PartitionRecord(
        fingerprint="0123456789abcdef", name="dirichlet", options={"alpha": 0.1}, skew={"overlap": 0.0},
        counts=[[3, 0], [1, 4]], overlaps=False, owners="",
    )  # fmt: skip
    figure = made(run_of(labels=np.array(partition.counts)), partition=partition)["partition"]
    assert isinstance(figure, Heatmap)
    assert figure.values[1].tolist() == [1.0, 4.0]
    assert np.isnan(figure.values[0, 1]), "an empty cell is empty"
    assert "α = 0.1" in figure.note
    assert "0123456789ab" in figure.note


def test_of_more_clients_than_were_counted_the_number_is_still_said() -> None:
    partition = PartitionRecord(
        fingerprint="0123456789abcdef", name="drawn", options={"alpha": 0.1, "clients": 9000}, skew={"overlap": 0.873},
        counts=[[3, 0], [1, 4]], overlaps=True, owners="",
    )  # fmt: skip
    figure = made(run_of(labels=np.array(partition.counts)), partition=partition)["partition"]
    assert isinstance(figure, Heatmap)
    assert "≈ 87.3%" in figure.note
    assert "2 of 9000 clients are shown." in figure.note


def test_prototypes_against_anchors_and_each_other() -> None:
    pictures = {
        "prototypes": np.array([[2.0, 0.0], [0.0, -3.0]]),
        "anchors": np.eye(2),
        "prototypes/0": np.array([[1.0, 0.0], [0.0, 5.0]]),
        "prototypes/1": np.array([[-1.0, 0.0], [0.0, 1.0]]),
    }
    found = made(run_of(), pictures)
    cosines, spread = found["anchors"], found["spread"]
    assert isinstance(cosines, Heatmap)
    assert isinstance(spread, BarChart)
    assert cosines.values.tolist() == [[1.0, 0.0], [0.0, -1.0]]
    assert spread.bars == {"0": 1.0, "1": 0.0}  # opposite: deviation 1; equal directions: 0


def test_a_prototype_of_length_zero_has_no_direction() -> None:
    assert unit(np.zeros((1, 3))).tolist() == [[0.0, 0.0, 0.0]]


def test_the_plane_keeps_the_distances_of_what_lies_in_a_plane() -> None:
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(30, 2)) @ np.linalg.qr(rng.normal(size=(5, 5)))[0][:2]
    seen = plane(flat)

    def distances(points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points[:, None] - points[None], axis=2)

    assert np.allclose(distances(seen), distances(flat))
    assert seen[:, 0].var() >= seen[:, 1].var()
    assert plane(np.ones((3, 1))).shape == (3, 2)


def test_neighbours_stay_neighbours() -> None:
    rng = np.random.default_rng(0)
    two = np.concatenate([rng.normal(0, 0.1, (20, 4)), rng.normal(9, 0.1, (20, 4))])
    seen = nearby(two)
    far = np.linalg.norm(seen[:20].mean(axis=0) - seen[20:].mean(axis=0))
    assert far > 2 * np.linalg.norm(seen[:20] - seen[:20].mean(axis=0), axis=1).mean()
    assert np.array_equal(seen, nearby(two))


def test_features_by_class_and_by_client() -> None:
    pictures = {"labels": np.array([0, 1]), "features/0": np.eye(2), "features/3": 2 * np.eye(2)}
    by_class, by_client = (made(run_of(), pictures)[key] for key in ("features-class", "features-client"))
    assert isinstance(by_class, ScatterChart)
    assert isinstance(by_client, ScatterChart)
    assert list(by_class.groups) == ["class 0", "class 1"] * 2
    assert list(by_client.groups) == ["client 0", "client 0", "client 3", "client 3"]
    assert by_client.note == "PCA."


def test_a_term_that_does_not_pull_was_missing_among_the_gradients() -> None:
    """Sampled once they are bars; sampled often, lines on a logarithmic axis, which has no place for 0."""
    once = made(run_of({"grad/norm/cls": [2.0], "grad/norm/pp": [1e-17]}))["gradients"]
    assert isinstance(once, BarChart)
    assert once.bars == {"cls": 2.0, "pp": 0.0}
    assert once.note == "Checkpoint 1."
    norms = {"grad/norm/cls": [2.0, 1.0], "grad/norm/pp": [0.0, 1e-17], "grad/cosine": [0.1, -0.2]}
    often = made(run_of(norms))
    assert isinstance(often["gradients"], LineChart)
    assert isinstance(often["conflict"], LineChart)
    assert [line.name for line in often["gradients"].lines] == ["cls", "pp (0 throughout)"]
    assert "pp (0 throughout)" in str(draw(often["gradients"], SAY).to_dict())


def test_a_loss_of_a_single_term_was_missing_among_the_gradients() -> None:
    """Its gradient is that of the whole, which is recorded without a name."""
    found = made(run_of({"loss/base": [2.0, 1.0], "loss/cls": [2.0, 1.0], "grad/norm": [5.0, 4.0]}))["gradients"]
    assert isinstance(found, LineChart)
    assert [(line.name, list(line.values)) for line in found.lines] == [("cls", [5.0, 4.0])]


def test_no_gradient_at_all_is_no_picture() -> None:
    assert "gradients" not in made(run_of({"grad/norm/cls": [0.0], "grad/norm/pp": [0.0]}))


def test_a_term_has_one_colour_among_losses_and_gradients_of_every_method() -> None:
    losses = {f"loss/{term}": [1.0, 2.0] for term in ("base", "cls", "con", "align", "mine")}
    norms = {f"grad/norm/{term}": [3.0] for term in ("cls", "con", "align", "mine")}
    found = made(run_of(losses | norms))
    assert isinstance(found["losses"], LineChart)
    assert isinstance(found["gradients"], BarChart)
    places = {line.name: line.place for line in found["losses"].lines}
    assert found["gradients"].colours == {term: places[term] for term in ("align", "cls", "con", "mine")}
    assert len(set(places.values())) == len(places)
    plain = made(run_of({"loss/base": [1.0], "loss/cls": [1.0]}))["losses"]
    assert isinstance(plain, LineChart)
    assert {line.name: line.place for line in plain.lines}.items() <= places.items()


def test_the_base_loss_hid_the_term_it_equals() -> None:
    figure = made(run_of({"loss/base": [2.0, 1.0], "loss/cls": [2.0, 1.0]}))["losses"]
    assert isinstance(figure, LineChart)
    assert [(line.name, line.is_dashed) for line in figure.lines] == [("cls", False), ("base", True)]


def test_a_client_has_one_colour_for_its_lambda_and_its_features() -> None:
    """Client 1 has no λ, so client 2 is the second line of the one chart and the third group of the other."""
    lam = {0: [1.0, 2.0], 1: [0.0, 0.0], 2: [3.0, 4.0]}
    pictures = {"labels": np.array([0, 1]), **{f"features/{client}": np.eye(2) for client in range(3)}}
    found = made(run_of({"lam/used": lam}), pictures)
    assert isinstance(found["lam"], LineChart)
    assert isinstance(found["features-client"], ScatterChart)
    places = {line.name: line.place for line in found["lam"].lines}
    assert places == {"client 0": 0, "client 2": 2}
    assert places.items() <= found["features-client"].colours.items()


def test_a_kind_of_accuracy_has_one_colour_whatever_else_was_recorded() -> None:
    server = {"accuracy/merged": [0.1, 0.2], "accuracy/clients": [0.1, 0.2], "accuracy/probe": [0.3, 0.4]}
    most, few = (made(run_of({}, kept))["accuracy"] for kept in (server, dict(list(server.items())[1:])))
    assert isinstance(most, LineChart)
    assert isinstance(few, LineChart)
    assert {line.name: line.place for line in few.lines}.items() <= {
        line.name: line.place for line in most.lines
    }.items()


def test_a_ranking_of_one_checkpoint_was_four_dots_in_an_empty_chart() -> None:
    figure = made(run_of({}, {"hr@10/full/validation": [0.2], "ndcg@10/full/validation": [0.1]}))["ranking"]
    assert isinstance(figure, BarChart)
    assert figure.bars == {"hr@10/full": 0.2, "ndcg@10/full": 0.1}


def test_a_recommenders_pictures() -> None:
    users = {
        "surprise": {k: [0.5] * 4 + [k / 10] for k in range(10)},
        "memory/p_positive": [0.2],
        "router/visual": [0.7],
    }
    server = {"hr@10/full": [0.2], "hr@10/full/tail": [0.1], "hr@10/full/markov": [0.15], "drift/users": [0.0, 3.0]}
    found = made(run_of(users, server))
    assert {"surprise", "memory", "router", "groups", "drift"} <= found.keys()
    groups, surprise = found["groups"], found["surprise"]
    assert isinstance(groups, BarChart)
    assert isinstance(surprise, BarChart)
    assert groups.bars == {"all": 0.2, "rare target": 0.1}
    assert groups.bounds == {"Markov": 0.15}
    assert sum(surprise.bars.values()) == 10, "every client once, from the last fifth"


def test_a_stream_is_drawn_slice_by_slice_beside_whoever_only_counts() -> None:
    server = {"hr@10/full": [0.1, 0.2], "hr@10/full/drifted": [0.3, 0.0], "hr@10/full/markov": [0.1, 0.1]}
    assert "slices" not in made(run_of({}, server))
    config = {"data": {"name": "planted", "split": "slices"}}
    assert "slices" not in made(run_of(), config=config)
    figure = made(run_of({}, server), config=config)["slices"]
    assert isinstance(figure, LineChart)
    assert [(line.name, line.is_dashed) for line in figure.lines] == [
        ("all", False),
        ("drifted", False),
        ("Markov", True),
    ]
    assert list(figure.lines[1].values) == [0.3, 0.0]


ONE = {"x": "", "y": "", "columns": ["1", "2"], "rows": ["0"], "measure": ""}
EVERY: list[Figure] = [
    LineChart(key="lam", y="λ", lines=[ChartLine("client 0", [1, 2, 3], [1.0, 0.0, 3.0])], is_log=True),
    Heatmap(key="recall", values=np.array([[0.5, np.nan]]), **ONE),
    Heatmap(key="anchors", values=np.array([[0.5, -1.0]]), scale="cosine", **ONE),
    BarChart(key="spread", x="", y="", bars={"0": 1.0}, bounds={"chance": 0.5}),
    ScatterChart(key="features-class", places=np.zeros((1, 2)), groups=["class 0"], group="class"),
]


@pytest.mark.parametrize("figure", EVERY, ids=lambda figure: f"{type(figure).__name__}-{figure.key}")
def test_every_kind_is_a_chart_with_data_and_a_table(figure: Figure) -> None:
    spec = draw(figure, SAY).to_dict()
    rows = [row for data in spec["datasets"].values() for row in data]
    assert rows
    assert all(np.isfinite(value) for row in rows for value in row.values() if isinstance(value, float))
    if getattr(figure, "is_log", False):
        assert all(row["value"] > 0 for row in rows if "value" in row)
    assert markdown_of(figure, SAY).count("\n|") >= 2


@pytest.mark.parametrize("dataset", ["digits", "planted", "nobody-knows-this-one"])
def test_there_is_one_function_per_file_and_each_is_asked(dataset: str) -> None:
    functions = figure_functions(dataset)
    assert len({function.__module__ for function in functions}) == len(functions) > 5


def test_a_set_that_is_not_known_here_is_drawn_with_the_figures_of_all_kinds() -> None:
    known = {function for dataset in ("digits", "planted") for function in figure_functions(dataset)}
    assert set(figure_functions("nobody-knows-this-one")) >= known
