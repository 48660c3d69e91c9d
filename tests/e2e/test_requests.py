"""Requests that were accepted and should not be, or ended in an error that was nobody's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import TINY, Equipoise, within_a_round

WRONG = {
    ("run", "fedavg", "rounds="): "rounds: has no value; to leave it open, write rounds=null",
    ("run", "fedavg", "rounds=99999999999999999999"): "rounds: expected a whole number of at most 2147483647",
    ("run", "fedavg", "partition.clients=1000000000"): "1000000000 clients of at least 2 need 2000000000 samples",
    ("run", "fedavg", "model.width=100000000"): "model 'cnn' with these settings does not fit into memory",
    ("report", "latest", "-o", "x.pdf"): "a report is a page in HTML or Markdown, and 'x.pdf' is neither",
    ("ls", "--status", "don"): "status 'don' is not known; did you mean 'done'?",
    ("methods", "fedprx"): "did you mean 'fedprox'?",
    ("balances", "v99"): "balance 'v99' is not known",
    ("rules", "lr-cutt"): "did you mean 'lr-cut'?",
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.items(), ids=lambda value: " ".join(value)[:60])
def test_what_should_not_be_accepted_is_refused_in_words(
    refused: Equipoise, arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    outcome = refused(*arguments)
    assert message in outcome.err.replace("\n", " ")
    assert not list(tmp_path.glob("x.pdf"))


def test_keys_that_stand_twice_in_a_file(refused: Equipoise, tmp_path: Path) -> None:
    (tmp_path / "twice.yaml").write_text("preset: fedavg\nrounds: 2\nrounds: 3\n")
    assert "the key 'rounds' stands there twice" in refused("run", "twice.yaml").err


def test_a_sweep_that_does_not_exist_is_named_and_the_known_ones_are_listed(
    equipoise: Equipoise, refused: Equipoise
) -> None:
    equipoise("sweep", "fedavg", *TINY, "rounds=1", "method=fedavg,fedprox", "--seeds", "1", "--name", "mine")
    for words in (("compare", "--sweep", "zzz"), ("ls", "--sweep", "zzz"), ("report", "--sweep", "zzz")):
        assert "sweep 'zzz' is not known; known: mine" in refused(*words).err.replace("\n", " ")
    taken = refused("sweep", "fedavg", *TINY, "rounds=2", "--seeds", "1", "--name", "mine")
    assert "sweep 'mine' stands for another grid already" in taken.err


def test_one_of_a_list(equipoise: Equipoise) -> None:
    for words, key, name in (
        (("methods", "v4"), "name", "fafi"),
        (("balances", "v12"), "name", "decoupled"),
        (("rules", "lr-cut"), "code", "lr-cut"),
    ):
        (entry,) = equipoise(*words, "--json").json
        assert entry[key] == name


def test_a_dry_run_says_settings_clients_and_cost_and_stores_nothing(equipoise: Equipoise, tmp_path: Path) -> None:
    said = equipoise("run", "fedavg", *TINY, "rounds=3", "--dry-run").out
    assert "rounds: 3" in said
    assert "# 4 clients, 4 at a time" in said
    assert "of training" in said
    document = equipoise("run", "fedavg", *TINY, "--dry-run", "--json").json
    assert document["config"]["method"]["name"] == "fedavg"
    assert document["estimate"]["clients"] == 4
    rows = equipoise("sweep", "fedavg", *TINY, "method=fedavg,fedprox", "--seeds", "2", "--dry-run", "--json").json
    assert (rows["runs"], [row["seeds"] for row in rows["cells"]]) == (4, [2, 2])
    assert not (tmp_path / "runs").exists()


def test_runs_are_removed_with_the_bytes_they_free_said_first(equipoise: Equipoise, refused: Equipoise) -> None:
    run_id = equipoise("run", "fedavg", *TINY, "rounds=1", "--json").json["run_id"]
    freed = equipoise("rm", run_id, "--dry-run", "--json").json["bytes"]
    assert freed > 4000, "a perceptron in float32 at least"
    assert "say --yes" in refused("rm", run_id).err
    assert equipoise("rm", run_id, "--yes", "--json").json == {"runs": [run_id], "bytes": freed, "removed": True}
    assert equipoise("ls", "--json").json == []
    assert equipoise("gc", "--dry-run", "--json").json["bytes"] == 0
    assert "there is no run" in refused("rm", run_id).err


def test_after_a_kill_the_list_and_the_event_agree(equipoise: Equipoise, tmp_path: Path) -> None:
    with within_a_round(tmp_path, "run", "fedavg", *TINY, "rounds=4", at_round=2) as process:
        process.kill()
    (listed,) = equipoise("ls", "--json").json
    assert listed["status"] == "killed"
    events = equipoise("resume", listed["run_id"], "--json").json["events"]
    (said,) = [event["message"] for event in events if event["kind"] == "resumed"]
    assert said.startswith("was killed; goes on after ")
