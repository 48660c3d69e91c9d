"""What a user gets for each mistake: what happened, where, what to do next; the right exit code; no traceback."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.commands import PATIENCE
from tests.e2e.conftest import TINY, Equipoise, command, environment

WRONG = {
    ("run", "fedavgg"): "preset 'fedavgg' is not known; did you mean 'fedavg'?",
    ("run", "nothing.yaml"): "there is no file nothing.yaml",
    (
        "run",
        "fedavg",
        "partition.alhpa=1",
    ): "partition.alhpa: not a setting of partition 'dirichlet'; did you mean 'alpha'?",
    ("run", "fedavg", "method=fedprx"): "method 'fedprx' is not known; did you mean 'fedprox'?",
    ("run", "fedavg", "alpha=0"): "partition.alpha: Input should be greater than 0, got 0",
    ("run", "fedavg", "fraction=1.5"): "server.fraction: Input should be less than or equal to 1, got 1.5",
    ("run", "fedavg", "lr=.nan"): "client.lr: Input should be a finite number, got nan",
    ("run", "fedavg", "rounds=0"): "rounds: Input should be greater than or equal to 1, got 0",
    ("run", "fedavg", "rounds=three"): "rounds: Input should be a valid integer",
    ("run", "fedavg", "rounds"): "rounds: expected key=value",
    ("run", "fedavg", "checkpoints=3"): "checkpoints: belongs to communication=one-shot",
    ("run", "one-shot/fedavg", "rounds=3"): "rounds: a one-shot run has no rounds",
    ("run", "fedavg", "K=5000"): "5000",
    (
        "run",
        "fedavg",
        "partition=drawn",
        "partition.size=0",
    ): "partition.size: Input should be greater than or equal",
    ("run", "fedavg", "partition=drawn", "partition.size=9999"): "lower partition.size or raise data.limit",
    ("run", "fedavg", "data=cifar10"): "equipoise data fetch cifar10",
    ("run", "studies/demo"): "equipoise sweep studies/demo",
    ("run", "fedavg", "mu=0.1"): "method.mu: not a setting of method 'fedavg'",
    ("run", "fedavg", "alhpa=0.1"): "alhpa: unknown key; did you mean 'alpha'?",
    ("run", "fedavg", "model=resnet8", "batch=1"): "BatchNorm cannot be trained on batches of one image",
    ("run", "etf-align", "balance=equilibrium", "balance.lam_min=60"): "lam_min 60 is above lam_max 50",
    ("run", "fafi", "server.predict=energy-gat"): "did you mean 'energy-gate'?",
    ("run", "fafi", "balance=entropy"): "method 'fafi' chooses λ itself",
    ("run", "fedavg", "server.merge=unit"): "server.merge: method 'fedavg' has no prototypes to merge",
    ("run", "fafi", "method=two-stage"): "needs a public pool: set data.public=0.1",
    ("run", "etf-align", "balance=v8"): "add method=etf-align method.target=progressive, or run preset v8",
    ("run", "v8", "communication=rounds"): "method.target: a path from the start to the anchors needs",
    ("run", "fedetf", "model=filters"): "nothing to train",
    ("sweep", "studies/why-v10-fails", "scale=smal"): "did you mean 'small'?",
    ("show", "nobody"): "there is no store at runs/equipoise.db",
    ("resume", "nobody"): "there is no store at runs/equipoise.db",
    ("compare", "nobody"): "there is no store at runs/equipoise.db",
    ("ls", "--store", "nowhere.db"): "there is no store at nowhere.db",
    ("sweep", "fedavg", "alpha=0.1,"): "alpha: an empty value in '0.1,'",
    ("sweep", "fedavg", "method=fedavg,fedprx"): "did you mean 'fedprox'?",
    ("sweep", "fedavg", "--seeds", "none"): "seeds: expected a count",
    ("partition", "fedavg", "partition=dirichlt"): "did you mean 'dirichlet'?",
    ("data", "check", "cifra10"): "did you mean 'cifar10'?",
}


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_a_wrong_request_is_explained(arguments: tuple[str, ...], refused: Equipoise) -> None:
    outcome = refused(*arguments)
    assert WRONG[arguments] in outcome.err
    assert outcome.out == ""


def test_looking_makes_no_store(equipoise: Equipoise, tmp_path: Path) -> None:
    equipoise("ls")
    equipoise("show", "nobody", code=2)
    assert not (tmp_path / "runs").exists()


def test_a_run_that_is_not_there(equipoise: Equipoise) -> None:
    run_id = equipoise("run", "fedavg", *TINY, "rounds=1", "--json").json["run_id"]
    for name in ("show", "resume", "compare"):
        assert f"did you mean {run_id}?" in equipoise(name, f"x{run_id[1:]}", code=2).err
    assert "no run was named" in equipoise("compare", code=2).err
    assert "sweep 'none' is not known" in equipoise("ls", "--sweep", "none", code=2).err


def test_all_problems_at_once(equipoise: Equipoise) -> None:
    """In a process of its own, as users have it."""
    err = equipoise("run", "fedavg", "alpha=-1", "fraction=2", "lr=0", "rounds=0", "modle=cnn", code=2).err
    for key in ("partition.alpha", "server.fraction", "client.lr", "rounds", "modle"):
        assert f"- {key}:" in err
    assert "did you mean 'model'?" in err


def test_a_missing_dataset_says_where_it_looked(equipoise: Equipoise, tmp_path: Path) -> None:
    err = equipoise("run", "fedavg", "data=svhn", code=2, EQUIPOISE_DATA=str(tmp_path)).err
    assert str(tmp_path) in err
    assert "equipoise data fetch svhn" in err


def test_a_truncated_dataset_is_refused(equipoise: Equipoise, tmp_path: Path) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(
        b"\x00\x00\x08\x03\x00\x00\xea\x60\x00\x00\x00\x1c\x00\x00\x00\x1c1"
    )
    for name in ("train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
        (tmp_path / name).write_bytes(b"\x00")
    err = equipoise("run", "fedavg", "data=fashion-mnist", f"data.path={tmp_path}", code=2).err
    assert "train-images-idx3-ubyte" in err


def test_a_store_of_a_newer_version_is_left_alone(equipoise: Equipoise, tmp_path: Path) -> None:
    equipoise("run", "fedavg", *TINY, "rounds=1")
    import sqlite3

    path = tmp_path / "runs" / "equipoise.db"
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO migrations (name, applied) VALUES ('9999-future', '2999')")
    connection.close()
    assert "newer version" in equipoise("ls", code=2).err


def test_not_a_database(equipoise: Equipoise, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "equipoise.db").write_bytes(bytes(range(256)) * 64)
    assert "equipoise.db" in equipoise("ls", code=2).err


def test_a_full_disk_ends_the_run_and_loses_nothing(equipoise: Equipoise, tmp_path: Path) -> None:
    """The largest file is limited to 400 kB while the run goes on: the database outgrows it."""
    arguments = ("run", "fedavg", *TINY, "rounds=60")
    limited = ["bash", "-c", 'ulimit -f 400; exec "$@"', "limited", *command(*arguments)]
    done = subprocess.run(
        limited, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "error: " in done.stderr
    assert "next:" in done.stderr
    resumed = equipoise("resume", "latest", "--json").json
    assert resumed["status"] == "done"
    assert resumed["metrics"] == equipoise(*arguments, "--json").json["metrics"]


def test_a_client_that_diverges_is_named(equipoise: Equipoise) -> None:
    err = equipoise("run", "fedavg", *TINY, "rounds=2", "lr=1e30", code=1).err
    assert "is nan" in err or "is inf" in err
    assert "client 0" in err
    assert "client.clip=1.0" in err
    (listed,) = equipoise("ls", "--json").json
    assert listed["status"] == "failed"
    assert "no client gave an update" in listed["error"]


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        command("show", "nobody", "--debug"),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" in done.stderr
