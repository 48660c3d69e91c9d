from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from equipoise.config.loader import Request, load
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, Halted
from equipoise.core.values import Row
from equipoise.diagnose.recording import Curve, Recording
from equipoise.diagnose.stored import stored
from equipoise.run.guard import Guard, changed
from equipoise.run.session import resume, start
from equipoise.run.state import Record, Snapshot
from equipoise.run.watch import Nobody
from equipoise.server.merge import ServerState
from equipoise.store import read
from equipoise.store.database import Store, open_store

from .conftest import Breaks

RUNAWAY = (
    "data.limit=200", "model=mlp", "partition.clients=3", "client.epochs=16", "checkpoints=8", "client.schedule=cosine",
    "method.start=anchor", "method.logits=cosine", "balance=v12", "balance.sigma.lr=0.2",
)  # fmt: skip
"""Prototypes start at the anchors, so L_a is near zero and a λ without a bound runs away."""


def runaway(guard: str, *more: str) -> Config:
    return load("etf-align", [*RUNAWAY, f"guard={guard}", *more]).config


def events(store: Store, run_id: str) -> list[tuple[str, str, int | None]]:
    """(kind, code, step) of what the guard wrote down."""
    found = [recorded.event for recorded in read.events(store, run_id)]
    return [(event.kind, event.detail["code"], event.step) for event in found if event.kind.startswith("guard-")]


def numbers(store: Store, run_id: str) -> list[Row]:
    return [row for row in read.rows(store, run_id) if row.name != "seconds"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, dict[str, str]]]:
    """A store with a run under each guard that lets it end, and their ids: nobody writes to it."""
    with open_store(tmp_path_factory.mktemp("whole") / "equipoise.db") as opened:
        yield opened, {mode: start(opened, Request(runaway(mode), None), Nobody()) for mode in ("off", "warn", "heal")}


def test_warn_writes_events_and_moves_no_number(whole):
    store, (off, warn) = whole[0], (whole[1][mode] for mode in ("off", "warn"))
    assert numbers(store, off) == numbers(store, warn)
    assert events(store, off) == []
    assert ("guard-warned", "lambda-runaway", 2) in events(store, warn)
    assert read.find_run(store, off).config_hash == read.find_run(store, warn).config_hash


def test_stop_ends_the_run_with_what_was_found(store):
    with pytest.raises(Halted, match="lambda-runaway: λ went from"):
        start(store, Request(runaway("stop"), None), Nobody())
    run = read.find_run(store, "latest")
    assert run.status == "stopped"
    assert run.error is not None
    assert run.error.startswith("lambda-runaway")
    assert read.checkpoints(store, run.run_id)[0].step == 2
    assert events(store, run.run_id) == [("guard-stopped", "lambda-runaway", 2)]
    assert read.findings(store, run.run_id)[0]["code"] == "lambda-runaway"


def test_heal_clamps_lambda_changes_the_server_and_ends_near_its_peak(whole):
    """Without it the same run ends tens of points lower: 21 to 33 over five seeds."""
    store, (healed, left_alone) = whole[0], (whole[1][mode] for mode in ("heal", "off"))
    assert ("guard-healed", "lambda-runaway", 2) in events(store, healed)
    recorded = stored(store, read.find_run(store, healed))
    first = [lam.values[0] for lam in recorded.clients("lam")]
    for lam in recorded.clients("lam"):
        assert lam.values[3:].max() <= 10 * np.median(first) * (1 + 1e-9)
    merged = recorded.server("accuracy/merged").values
    assert merged[-1] > merged.max() - 0.03
    alone = stored(store, read.find_run(store, left_alone))
    assert max(lam.values[-1] for lam in alone.clients("lam")) > 1000 * max(first)
    assert merged[-1] > alone.server("accuracy/merged").values[-1] + 0.1


@pytest.mark.parametrize(
    "step", [2, pytest.param(1, marks=pytest.mark.slow), 3, pytest.param(6, marks=pytest.mark.slow)]
)
def test_a_healed_run_that_broke_resumes_to_the_same_numbers(store, step, whole):
    unbroken = (whole[0], whole[1]["heal"])
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(runaway("heal"), None), Breaks(KeyboardInterrupt(), step))
    broken = read.find_run(store, "latest").run_id
    resume(store, read.find_run(store, broken), Nobody())
    assert numbers(store, broken) == numbers(*unbroken)
    assert events(store, broken) == events(*unbroken)
    first = [read.find_run(at, run_id).environment["predict"] for at, run_id in ((store, broken), unbroken)]
    assert first == ["feature-average"] * 2, "the server before the healing stays known"


def test_a_guard_looks_ten_times_and_says_a_thing_once():
    config = load("fedavg", ["rounds=200", "guard=warn"]).config
    guard = Guard(config, Recording("start", {}))
    said = []
    for step in range(200):
        rows = [Row(step, step, 3, "lam", 2.0 ** (step / 4))]
        said += [event.step for event in guard.see(Record(step, rows, [], Snapshot(ServerState({})))).events]
    assert len(said) == 1
    assert (said[0] + 1) % 20 == 0


def test_of_many_clients_the_first_twenty_are_watched_also_after_a_resume():
    config = load("fedavg", ["rounds=4", "guard=warn"]).config
    guard = Guard(config, Recording("start", {}))
    for step, cohort in enumerate((range(200, 212), range(0, 100), range(0, 100))):
        rows = [Row(step, step, client, "lam", 1.0) for client in reversed(cohort)]
        guard.see(Record(step, rows, [], Snapshot(ServerState({}))))
    assert guard.watched == {*range(200, 212), *range(8)}
    steps, values = np.arange(1), np.ones(1)
    met = {client: Curve(client, steps + (client < 200), values) for client in (*range(100), *range(200, 212))}
    assert Guard(config, Recording("start", {"lam": met})).watched == guard.watched


def test_limits_of_the_configuration_are_the_guards(store):
    run_id = start(
        store,
        Request(runaway("warn", "limits.lambda-runaway.slope=9", "limits.lambda-runaway.growth=1e9"), None),
        Nobody(),
    )
    assert "lambda-runaway" not in [code for _, code, _ in events(store, run_id)]
    assert "lambda-runaway" not in [finding["code"] for finding in read.findings(store, run_id)]


def test_an_unknown_limit_is_refused_before_anything_is_trained(store):
    with pytest.raises(ConfigError, match="did you mean 'lr-cut'"):
        start(store, Request(runaway("warn", "limits.lr-cutt.low=1"), None), Nobody())
    assert read.runs(store) == []


def test_off_is_a_word_in_yaml():
    assert load({"preset": "fedavg", "guard": False}).config.guard == "off"


def test_changes_are_checked_like_any_configuration():
    config = runaway("heal")
    assert changed(config, {"balance.ceiling": 5.0}).balance.ceiling == 5.0
    with pytest.raises(ConfigError):
        changed(config, {"balance.ceiling": -5.0})
