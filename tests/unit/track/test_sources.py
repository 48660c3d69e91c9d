"""Tables, event files, and MLflow's files: what is read, what is left alone, what is refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from equipoise.config.track import EventFileOptions
from equipoise.core.errors import DataError
from equipoise.store.database import open_store
from equipoise.track import from_flower, history, mlflow_runs
from equipoise.track.history import ForeignHistory, WantedRuns
from equipoise.track.points import Point
from equipoise.track.sink import TrackedRun
from equipoise.track.sources import histories
from equipoise.track.to_tensorboard import EventFileSink


def sent(folder: Path, run: str, *found: Point) -> None:
    """Event files as our own tracker writes them."""
    sink = EventFileSink(EventFileOptions(folder=str(folder)))
    sink.open(TrackedRun(run, "fedavg", "0.1.0", {}), None)
    sink.send(found)
    sink.close("done")


def mlruns(folder: Path) -> Path:
    """A folder of MLflow with one run, written by hand as its documentation describes it."""
    run = folder / "0" / "abc123"
    for name, text in {
        "../meta.yaml": "experiment_id: '0'\nname: first\n",
        "meta.yaml": "run_id: abc123\nrun_name: mine\nstatus: 3\nlifecycle_stage: active\n"
        "start_time: 1000\nend_time: 61000\n",
        "metrics/accuracy": "1000 0.25 0\n2000 0.5 1\n",
        "metrics/client_1/hr at 10": "1000 0.125 0\n",
        "params/lr": "0.05",
        "params/optimizer": "sgd",
        "tags/note": "x",
    }.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def database(path: Path) -> Path:
    """The tables of an MLflow database, as far as they are read."""
    with sqlite3.connect(path) as made:
        made.executescript("""
            CREATE TABLE experiments (experiment_id INTEGER, name TEXT);
            CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time BIGINT, end_time BIGINT,
              lifecycle_stage TEXT, experiment_id INTEGER);
            CREATE TABLE metrics (key TEXT, value DOUBLE, timestamp BIGINT, run_uuid TEXT, step BIGINT, is_nan BOOLEAN);
            CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);
            CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);
            INSERT INTO experiments VALUES (1, 'first'), (2, 'second');
            INSERT INTO runs VALUES ('r1', 'mine', 'FINISHED', 1000, 61000, 'active', 1),
              ('r2', 'other', 'FAILED', 2000, NULL, 'active', 2), ('r3', 'gone', 'FINISHED', 0, 0, 'deleted', 1);
            INSERT INTO metrics VALUES ('accuracy', 0.25, 1, 'r1', 0, 0), ('accuracy', 0, 2, 'r1', 1, 1),
              ('loss', 1.7976931348623157e308, 2, 'r2', 0, 0);
            INSERT INTO params VALUES ('lr', '0.05', 'r1');
        """)
    return path


def values(found: ForeignHistory) -> dict[tuple[str, int | None], list[str]]:
    return {
        (name, curve.client): [str(value) for value in curve.values.tolist()]
        for name, curves in found.recording.curves.items()
        for curve in curves.values()
    }


def test_a_table_of_several_runs_and_one_of_them(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("run,step,client,name,value\na,0,,loss,2\na,0,,loss,1\nb,0,3,loss,4\n")
    both = histories(path, WantedRuns())
    assert [each.name for each in both] == ["a", "b"]
    assert values(both[0]) == {("loss", None): ["1.0"]}
    assert both[0].repairs == [
        "1 rows repeat a run, client, name and step; 1 of them with another value: the last stands"
    ]
    (only,) = histories(path, WantedRuns(run="b"))
    assert values(only) == {("loss", 3): ["4.0"]}


def test_a_folder_of_event_files_is_a_run_each(tmp_path: Path) -> None:
    sent(tmp_path / "logs", "one", Point(0, "accuracy/merged", 0.25), Point(0, "client_3/lam", 2.0))
    sent(tmp_path / "logs" / "deep", "two", Point(4, "loss", 0.5))
    first, second = sorted(histories(tmp_path / "logs", WantedRuns()), key=lambda each: each.original)
    assert (first.original, second.original) == ("deep/two", "one")
    assert values(second) == {("accuracy/merged", None): ["0.25"], ("lam", 3): ["2.0"]}
    (file,) = (tmp_path / "logs" / "one").iterdir()
    (alone,) = histories(file, WantedRuns())
    assert (alone.original, values(alone)) == ("one", values(second))


def test_a_run_that_was_resumed_has_several_files_and_is_one_run(tmp_path: Path) -> None:
    sent(tmp_path, "one", Point(0, "loss", 0.5))
    sent(tmp_path, "one", Point(1, "loss", 0.25))
    (found,) = histories(tmp_path, WantedRuns())
    assert values(found) == {("loss", None): ["0.5", "0.25"]}


def test_a_folder_of_mlflow(tmp_path: Path) -> None:
    (found,) = histories(mlruns(tmp_path / "mlruns"), WantedRuns())
    assert values(found) == {("accuracy", None): ["0.25", "0.5"], ("hr@10", 1): ["0.125"]}
    assert (found.name, found.original, found.status) == ("mine", "abc123", "done")
    assert found.settings == {"client.lr": 0.05, "optimizer": "sgd"}
    assert (found.created, found.finished) == ("1970-01-01T00:00:01.000000+00:00", "1970-01-01T00:01:01.000000+00:00")
    assert histories(tmp_path / "mlruns" / "0", WantedRuns(experiment="first"))
    assert histories(tmp_path / "mlruns" / "0" / "abc123", WantedRuns())[0].original == "abc123"
    with pytest.raises(DataError, match="no run there is meant"):
        histories(tmp_path / "mlruns", WantedRuns(experiment="second"))


def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("1000 0.5 0\n")
    folder = mlruns(tmp_path / "mlruns")
    (folder / "0" / "abc123" / "metrics" / "stolen").symlink_to(tmp_path / "secret")
    (found,) = histories(folder, WantedRuns())
    assert "stolen" not in found.recording.curves


def test_a_database_of_mlflow_is_read_and_not_changed(tmp_path: Path) -> None:
    path = database(tmp_path / "mlflow.db")
    before = path.read_bytes()
    first, second = histories(path, WantedRuns())
    assert values(first) == {("accuracy", None): ["0.25", "nan"]}
    assert (first.settings, first.status, second.status, second.finished) == (
        {"client.lr": 0.05},
        "done",
        "failed",
        None,
    )
    assert values(second) == {("loss", None): ["inf"]}
    assert [each.original for each in histories(path, WantedRuns(experiment="second"))] == ["r2"]
    assert path.read_bytes() == before


def test_a_store_of_ours_is_not_imported_but_used(tmp_path: Path) -> None:
    open_store(tmp_path / "equipoise.db").close()
    with pytest.raises(DataError, match="is a store of Equipoise"):
        histories(tmp_path / "equipoise.db", WantedRuns())


def spoilt(folder: Path, name: str, text: str) -> Path:
    (mlruns(folder) / "0" / "abc123" / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("meta.yaml", "a: [", "is not MLflow's description"),
        ("metrics/accuracy", "1000 much 0\n", "line 1 of metric 'accuracy' is not `timestamp value step`"),
        ("metrics/accuracy", "1000\n", "line 1 of metric 'accuracy'"),
        ("metrics/accuracy", "1000 0.5 -3\n", "has a step that is not a whole number from 0 on"),
        ("params/lr", "x" * (mlflow_runs.LARGEST_TEXT + 1), "are read"),
    ],
)
def test_damaged_folders_are_refused_in_words(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        histories(spoilt(tmp_path / "mlruns", name, text), WantedRuns())


def test_a_description_that_expands_without_end_costs_nothing(tmp_path: Path) -> None:
    levels = "".join(f"b{i}: &b{i} [{', '.join([f'*b{i - 1}'] * 9)}]\n" for i in range(1, 30))
    bomb = f"b0: &b0 [x, x]\n{levels}run_id: abc123\nrun_name: *b29\nstatus: 99\n"
    (found,) = histories(spoilt(tmp_path / "mlruns", "meta.yaml", bomb), WantedRuns())
    assert (found.name, found.status) == ("abc123", "stopped")
    assert found.repairs == ["MLflow says 99: taken as stopped"]


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_flower, "LARGEST_JSON", 10)
    (tmp_path / "h.json").write_text('{"losses_centralized": []}')
    with pytest.raises(DataError, match="at most 0 MiB are read"):
        histories(tmp_path / "h.json", WantedRuns())


def test_too_many_runs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("from_mlflow", "from_tables"):
        monkeypatch.setattr(f"equipoise.track.{module}.MOST_RUNS", 1)
    with pytest.raises(DataError, match="more than 1 runs"):
        histories(database(tmp_path / "mlflow.db"), WantedRuns())
    sent(tmp_path / "logs", "one", Point(0, "loss", 0.5))
    sent(tmp_path / "logs", "two", Point(0, "loss", 0.5))
    with pytest.raises(DataError, match="2 folders of event files"):
        histories(tmp_path / "logs", WantedRuns())


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nothing.csv", "there is no file or folder"),
        ("file:///etc/passwd", "'file://' is not an address"),
        ("http://127.0.0.1:9", "the server cannot be read: .*refused"),
    ],
)
def test_sources_that_are_not_there(source: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        histories(source, WantedRuns())


def test_a_folder_of_something_else_and_a_file_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="neither event files nor runs of MLflow"):
        histories(tmp_path, WantedRuns())
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\0 and then nonsense" * 100)
    with pytest.raises(DataError, match=r"'x.db' cannot be read"):
        histories(tmp_path / "x.db", WantedRuns())
    with sqlite3.connect(tmp_path / "y.db") as made:
        made.execute("CREATE TABLE t (x)")
    with pytest.raises(DataError, match="is not a database of MLflow"):
        histories(tmp_path / "y.db", WantedRuns())


@pytest.mark.parametrize(("text", "kept"), [("a" * 300, "a" * 199 + "…"), ("tab\t", "tab\\x09"), ("λ @ 汉", "λ @ 汉")])
def test_names_are_cleaned(text: str, kept: str) -> None:
    assert history.cleaned(text) == kept


def test_only_plain_numbers_are_numbers() -> None:
    odd: list[Any] = ["1", None, True, [1.0], 10**400]
    assert [history.number_of(value) for value in (1, 0.5, *odd)] == [1.0, 0.5, None, None, None, None, None]


def test_a_client_that_comes_after_hundreds_of_the_servers_numbers_is_read(tmp_path: Path) -> None:
    of_server = [Point(step, "accuracy/merged", 0.5) for step in range(300)]
    sent(tmp_path, "one", *of_server, Point(300, "client_0/lam", 2.0))
    (found,) = histories(tmp_path, WantedRuns())
    assert values(found)[("lam", 0)] == ["2.0"]
