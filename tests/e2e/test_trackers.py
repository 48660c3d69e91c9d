"""Runs that are tracked, sent and imported, by the command: files of TensorBoard and W&B, and what is refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import polars as pl
import pytest

from equipoise.diagnose.tensorboard import read_events
from equipoise.store.database import open_store
from equipoise.store.metrics import metrics
from tests.e2e.conftest import TINY, Equipoise

pytestmark = pytest.mark.slow

RUN = ["run", "fedavg", *TINY, "rounds=3"]


def numbers(folder: Path, run_id: str) -> pl.DataFrame:
    with open_store(folder / "runs" / "equipoise.db") as store:
        return metrics(store, run_id)


def as_tags(table: pl.DataFrame) -> dict[tuple[str, int], float]:
    """{(tag, step): value}, as a tracker has it."""
    return {
        (name if client is None else f"client_{client}/{name}", step): value
        for step, client, name, value in table.select("step", "client", "name", "value").rows()
    }


def in_event_files(folder: Path) -> dict[tuple[str, int], float]:
    rows = read_events(folder).select("client", "name", "step", "value").rows()
    return {(name if client is None else f"client_{client}/{name}", step): value for client, name, step, value in rows}


def records(path: Path) -> list[bytes]:
    """The records of a W&B file: blocks of 32 KiB, chunks of checksum, length, kind (whole, first, middle, last)."""
    data, place, found, part = path.read_bytes(), 7, [], b""
    while place + 7 <= len(data):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        _, size, kind = struct.unpack("<IHB", data[place : place + 7])
        part += data[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in {1, 4}:
            found.append(part)
            part = b""
    return found


def in_wandb_files(folder: Path) -> dict[tuple[str, int], float]:
    from wandb.proto.wandb_internal_pb2 import Record

    found = {}
    for path in sorted(folder.glob("wandb/offline-run-*/run-*.wandb")):
        for data in records(path):
            record = Record()
            record.ParseFromString(data)
            if record.HasField("history"):
                items = {item.key or "/".join(item.nested_key): item.value_json for item in record.history.item}
                step = int(json.loads(items["_step"]))
                found |= {(key, step): json.loads(text) for key, text in items.items() if not key.startswith("_")}
    return found


def test_event_files_and_wandb_files_have_every_curve_of_every_client(equipoise: Equipoise, tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    settings = ["track=[tensorboard,wandb]", "track.wandb.mode=offline", "track.wandb.folder=w", "track.wait=60"]
    document = equipoise(*RUN, *settings, "--json").json
    wanted = as_tags(numbers(tmp_path, document["run_id"]))
    assert ("client_3/loss/base", 2) in wanted
    assert in_event_files(tmp_path / "events" / document["run_id"]) == pytest.approx(wanted, rel=1e-6, nan_ok=True)
    assert in_wandb_files(tmp_path / "w") == pytest.approx(wanted, nan_ok=True)
    kinds = [event["kind"] for event in document["events"] if event["kind"].startswith("tracker")]
    assert kinds == ["tracker-opened", "tracker-opened"]


def test_trackers_change_neither_numbers_nor_hash(equipoise: Equipoise, tmp_path: Path) -> None:
    plain = equipoise(*RUN, "--json").json
    tracked = equipoise(*RUN, "track=tensorboard", "track.per_client=no", "--json").json
    ours, theirs = (numbers(tmp_path, each["run_id"]).filter(pl.col("name") != "seconds") for each in (plain, tracked))
    assert ours.drop("run_id").equals(theirs.drop("run_id"))
    with open_store(tmp_path / "runs" / "equipoise.db") as store:
        from equipoise.store import read

        assert len({run.config_hash for run in read.runs(store)}) == 1
    tags = {tag for tag, _ in in_event_files(tmp_path / "events" / tracked["run_id"])}
    assert "clients/loss/base" in tags
    assert not [tag for tag in tags if tag.startswith("client_")]


def test_an_unknown_server_harms_nothing_and_the_points_can_be_sent_elsewhere(
    equipoise: Equipoise, tmp_path: Path
) -> None:
    settings = ["track=[mlflow]", "track.mlflow.uri=http://127.0.0.1:9", "track.wait=60"]
    document = equipoise(*RUN, *settings, "--json").json
    assert document["status"] == "done"
    events = {event["kind"]: event["message"] for event in document["events"]}
    assert "Connection refused" in events["tracker-failed"]
    assert "of the last 3 checkpoints" in events["tracker-behind"]
    failed = equipoise("export", "latest", "--to", "mlflow", code=1)
    assert "Connection refused" in failed.err
    said = equipoise("export", "latest", "--to", "tensorboard", "-o", "events").out
    wanted = as_tags(numbers(tmp_path, document["run_id"]))
    assert f"{len(wanted)} points sent" in said
    assert in_event_files(tmp_path / "events" / document["run_id"]) == pytest.approx(wanted, rel=1e-6, nan_ok=True)
    assert "nothing was lacking" in equipoise("export", "latest", "--to", "tensorboard", "-o", "events").out


def test_a_resumed_run_goes_on_in_the_same_files(equipoise: Equipoise, tmp_path: Path) -> None:
    run_id = equipoise(*RUN, "track=tensorboard", "--json").json["run_id"]
    equipoise("resume", run_id, "--rounds", "5")
    wanted = as_tags(numbers(tmp_path, run_id))
    assert max(step for _, step in wanted) == 4
    assert in_event_files(tmp_path / "events" / run_id) == pytest.approx(wanted, rel=1e-6, nan_ok=True)


def test_what_was_tracked_comes_back_with_the_same_findings(equipoise: Equipoise, tmp_path: Path) -> None:
    v12 = [
        "balance=v12",
        "method.start=anchor",
        "method.logits=cosine",
        "client.schedule=cosine",
        "balance.sigma.lr=0.2",
    ]
    small = ["data.limit=200", "model=mlp", "partition.clients=3", "client.epochs=16", "checkpoints=8"]
    ours = equipoise("run", "etf-align", *v12, *small, "track=tensorboard", "track.wait=60", "--json").json
    (theirs,) = equipoise("import", f"events/{ours['run_id']}", "--set", "classes=10", "--json").json
    assert theirs["tool"] == "tensorboard"
    found = equipoise("diagnose", theirs["run_id"], "--json").json
    wanted = equipoise("diagnose", ours["run_id"], "--json").json
    codes = [finding["code"] for finding in wanted["findings"]]
    gone = {each["code"] for each in found["not_examined"]}
    assert [finding["code"] for finding in found["findings"]] == [code for code in codes if code not in gone]
    assert "lambda-runaway" in [finding["code"] for finding in found["findings"]]


def test_imported_runs_are_listed_compared_reported_and_not_resumed(
    equipoise: Equipoise, refused: Equipoise, tmp_path: Path
) -> None:
    history = {"evaluate_metrics_serverapp": {str(round_): {"accuracy": 0.1 * round_} for round_ in range(4)}}
    (tmp_path / "history.json").write_text(json.dumps(history))
    said = equipoise("import", "history.json", "--name", "theirs")
    run_id = said.out.split()[0]
    assert "imported from flower" in said.out
    assert "was imported already" in equipoise("import", "history.json").out
    own = equipoise(*RUN, "--json").json["run_id"]
    lines = {line["run_id"]: line for line in equipoise("ls", "--json").json}
    assert (lines[run_id]["method"], lines[run_id]["value"]) == ("imported", pytest.approx(0.3))
    rows = equipoise("compare", own, run_id, "--json").json["rows"]
    assert [row["final"]["mean"] for row in rows][1] == pytest.approx(0.3)
    for language in ("en", "zh"):
        equipoise("report", own, run_id, "-o", f"{language}.html", "--lang", language)
        assert "flower: history" in (tmp_path / f"{language}.html").read_text(encoding="utf-8")
    assert "flower: history in history.json" in equipoise("show", run_id).out
    for words in (["resume", run_id], ["resume", run_id, "--rounds", "+1"]):
        assert "there are numbers, but nothing to resume" in refused(*words).err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["track=mlfow"], "tracker 'mlfow' is not known; did you mean 'mlflow'?"),
        (["track=mlflow"], "tracking with MLflow needs the address of a server"),
        (["track.mlflow.uri=http://me:secret@server"], "so no user or password here"),
        (["track.wait=yes"], "expected a number or a name, not yes or no"),
        (["track.per_client=-1"], "greater than or equal to 0"),
        (["track.wandb.mode=sometimes"], "'online' or 'offline'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_written(
    refused: Equipoise, tmp_path: Path, arguments: list[str], words: str
) -> None:
    assert words in refused(*RUN, *arguments).err.replace("\n", " ")
    assert not (tmp_path / "runs").exists()


def test_wrong_requests_to_send_and_import_are_named(equipoise: Equipoise, refused: Equipoise) -> None:
    equipoise(*RUN)
    for arguments, words in (
        (["export", "latest", "--to", "mlflow"], "needs the address of a server"),
        (["export", "latest", "--to", "mlflow", "--set", "url=x"], "settings of mlflow: uri, experiment, per_client"),
        (["export", "latest", "--to", "mlflow", "--set", "a.b=1"], "'a' is not a setting of mlflow"),
        (["export", "latest", "--to", "svg", "--set", "uri=x"], "--set is for trackers alone"),
        (["import", "nothing.json"], "there is no file or folder 'nothing.json'"),
        (["import", "ftp://server"], "'ftp://' is not an address"),
        (["import", "x.csv", "--set", "lr-cut.low=1"], "looks like a limit of a rule"),
    ):
        assert words in refused(*arguments).err.replace("\n", " ")


def test_a_sweep_may_track_too(equipoise: Equipoise, tmp_path: Path) -> None:
    equipoise("sweep", "fedavg", *TINY, "rounds=1", "client.lr=0.1,0.01", "--seeds", "1", "track=[tensorboard]")
    assert len(list((tmp_path / "events").iterdir())) == 2
