from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from equipoise.config.schema import Config
from equipoise.core.values import Event
from equipoise.report.card import card
from equipoise.report.words import words
from equipoise.store import read, write
from equipoise.store.database import open_store
from equipoise.store.records import NewRun, Run
from equipoise.store.transact import Store
from tests.conftest import tiny


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "equipoise.db") as opened:
        yield opened


def stored(store: Store, run_id: str, config: Config) -> Run:
    """A run that took 250 s."""
    write.create_run(
        store,
        NewRun(
            run_id=run_id, name="fedavg", method=config.method.name, seed=config.seed,
            config=config.model_dump(mode="json"), config_hash=config.fingerprint(), headline="accuracy/merged",
            version="0",
        ),
    )  # fmt: skip
    moments = {"created": "2026-11-18T01:38:20.5+00:00", "finished": "2026-11-18T01:42:30.5+00:00"}
    return replace(read.find_run(store, run_id), **moments)


def told(store: Store, groups: dict[str, list[Run]]) -> dict[str, list[tuple[str, str]]]:
    return {entry.name: list(entry.lines) for entry in card(store, groups, words("en"))}


def test_the_protocol_did_not_say_who_chooses_lambda_nor_how_to_run_it_again(store: Store) -> None:
    run = stored(store, "a-0", tiny("client.lr=0.3", "client.schedule=cosine", "guard=warn", "seed=4"))
    found = told(store, {"plain": [run]})
    assert found["λ policy"] == [("", "none")]
    assert found["guard"] == [("", "warn")]
    assert found["learning rate"] == [("", "0.3 (sgd, momentum 0.9, schedule cosine)")]
    assert found["date"] == [("", "2026-11-18 01:38 UTC")]
    assert found["duration, per run"] == [("", "4 min 10 s")]
    assert found["random seeds"] == [("", "4")]
    ((whom, command),) = found["run it again"]
    assert whom == ""
    assert {"guard=warn", "client.lr=0.3", "client.schedule=cosine", "seed=4"} <= set(command.split())
    assert command.startswith("equipoise run fedavg ")


def test_what_differs_says_of_whom(store: Store) -> None:
    plain = [stored(store, f"a-{seed}", tiny(f"seed={seed}")) for seed in (0, 1)]
    other = [stored(store, "b-0", tiny("method=fedprox", "method.mu=0.5"))]
    found = told(store, {"plain": plain, "twin": plain, "other": other})
    assert found["method"] == [("plain, twin", "fedavg"), ("other", "fedprox (mu 0.5)")]
    assert [whom for whom, _ in found["model"]] == [""]
    assert [whom for whom, _ in found["run it again"]] == ["plain, twin", "other"]
    assert found["run it again"][0][1].endswith("--seeds 2")


def test_pauses_of_a_run_that_was_resumed_are_not_passed_over(store: Store) -> None:
    run = stored(store, "a-0", tiny())
    write.add_events(store, "a-0", [Event("resumed", "was killed")])
    assert told(store, {"plain": [run]})["duration, per run"] == [("", "4 min 10 s, with pauses: a run was resumed")]
    going_on = replace(run, finished=None)
    assert told(store, {"plain": [going_on]})["duration, per run"] == [("", "not over")]
