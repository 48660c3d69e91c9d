"""A search from its first trial to its table: on validation alone, the same however it comes to its end."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import fmean

import pytest
from sqlalchemy import event

from equipoise.config.loader import Request
from equipoise.core.errors import StoreError
from equipoise.run.search.plan import SearchPlan
from equipoise.run.search.search import run_search
from equipoise.run.session import start
from equipoise.store import read, write
from equipoise.store.claims import Claims
from equipoise.store.database import Store, open_store
from equipoise.store.searches import TrialRecord, begin_search, best_trial, find_search, trials
from equipoise.store.tidy import remove
from equipoise.store.validation import validation_curve
from tests.unit.run.conftest import Breaks

from .conftest import Planned, WorkersHere

pytestmark = pytest.mark.slow

LR = "client.lr: {low: 1e-4, high: 1.0, log: true}"


def nobody(found: Sequence[TrialRecord], budget: int) -> None:
    pass


def searched(store: Store, location: str, plan: SearchPlan, jobs: int = 1, follow=nobody) -> list[TrialRecord]:
    begin_search(store, plan.name, {**plan.described(), "window": jobs})
    return run_search(store, location, plan, WorkersHere(jobs), follow)


def table(found: Sequence[TrialRecord]) -> list[tuple[object, ...]]:
    """A search without what differs from run to run: times and ids."""
    return [(each.number, dict(each.settings), each.state, each.score, len(each.runs)) for each in found]


def test_every_trial_is_a_run_and_the_best_ones_runs_are_the_sweeps(store, location, planned: Planned) -> None:
    plan = planned(LR, trials=4, seeds=2, pruner="none")
    found = searched(store, location, plan)
    assert [trial.state for trial in found] == ["done"] * 4
    assert trials(store, plan.name) == found
    for trial in found:
        runs = [read.find_run(store, run_id) for run_id in trial.runs]
        assert [(run.seed, run.cell, run.sweep) for run in runs] == [(s, trial.label, plan.name) for s in (0, 1)]
        assert {run.config["client"]["lr"] for run in runs} == {trial.settings["client.lr"]}
        finals = [curve[max(curve)] for curve in (validation_curve(store, run) for run in runs)]
        assert trial.score == fmean(finals)
    best = max(found, key=lambda trial: trial.score)
    assert best_trial(found) == best
    assert [run_id for _, run_id in read.members(store, plan.name)] == list(best.runs)
    assert find_search(store, plan.name).importance == {"client.lr": 1.0}


def test_the_numbers_of_the_test_set_change_nothing_but_the_test_column(location, planned: Planned, tmp_path) -> None:
    """In a store that turns every test figure around as it is written, the search takes the same course."""
    plan, other = planned(LR, trials=10), str(tmp_path / "falsified.db")
    with open_store(location) as store:
        true = searched(store, location, plan)
    open_store(other).close()
    with sqlite3.connect(other) as database:
        database.execute(
            "CREATE TRIGGER falsified AFTER INSERT ON metrics WHEN NEW.name NOT LIKE '%validation%'"
            " BEGIN UPDATE metrics SET value = 1 - value WHERE rowid = NEW.rowid; END"
        )
    database.close()
    with open_store(other) as store:
        falsified = searched(store, other, plan)
        assert table(falsified) == table(true)
    best = best_trial(true)
    with open_store(location) as first, open_store(other) as second:
        figures = [
            read.final_metrics(each, of.runs[0])["accuracy/merged"]
            for each, of in ((first, best), (second, best_trial(falsified)))
        ]
    assert figures[0] == pytest.approx(1 - figures[1]), "the trigger did its work"
    assert {"pruned", "done"} <= {trial.state for trial in true}


def test_a_search_asks_the_store_for_no_number_but_validations(store, location, planned: Planned) -> None:
    asked: list[str] = []

    def note(_connection, _cursor, statement, parameters, *_rest) -> None:
        if "FROM metrics" in statement:
            asked.append(str(parameters))

    event.listen(store.reader, "before_cursor_execute", note)
    searched(store, location, planned(LR, trials=7))
    assert asked
    assert all("accuracy/validation" in each and "accuracy/merged" not in each for each in asked)


def test_a_hopeless_trial_ends_early_and_is_recorded_as_pruned(store, location, planned: Planned) -> None:
    found = searched(store, location, planned(LR, "rounds=5", trials=12))
    pruned = [trial for trial in found if trial.state == "pruned"]
    assert pruned, "among twelve learning rates over four decades some are hopeless"
    done = [trial for trial in found if trial.state == "done"]
    for trial in pruned:
        run = read.find_run(store, trial.runs[0])
        (noted,) = [at.event for at in read.events(store, run.run_id) if at.event.kind == "pruned"]
        assert (run.status, noted.detail["trial"], noted.detail["search"]) == ("stopped", trial.number, run.sweep)
        assert "pruned: trial" in run.error
        curve = validation_curve(store, run)
        assert max(curve) == noted.step < 4
        before = [each for each in done if each.number < trial.number]
        rivals = sorted(validation_curve(store, read.find_run(store, e.runs[0]))[noted.step] for e in before)
        middle = (rivals[(len(rivals) - 1) // 2] + rivals[len(rivals) // 2]) / 2
        assert len(before) >= 5
        assert max(curve.values()) < middle
        assert trial.score is None


def test_no_pruner_ends_nothing_early(store, location, planned: Planned) -> None:
    found = searched(store, location, planned(LR, trials=8, pruner="none"))
    assert {trial.state for trial in found} == {"done"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_search_stopped_again_and_again_goes_on_to_the_same_table(location, planned: Planned, tmp_path, jobs) -> None:
    plan, other = planned(LR, trials=9, seeds=2 if jobs == 1 else 1), str(tmp_path / "stopped.db")
    with open_store(location) as store:
        whole = searched(store, location, plan, jobs)
    calls = 0

    def stops(found: Sequence[TrialRecord], budget: int) -> None:
        nonlocal calls
        calls += 1
        if calls % 4 == 0:
            raise KeyboardInterrupt

    with open_store(other) as store:
        for _ in range(40):
            try:
                parts = searched(store, other, plan, jobs, stops)
                break
            except KeyboardInterrupt:
                continue
        assert calls > 8, "it was stopped more than once"
        assert table(parts) == table(whole)
        assert len(read.runs(store)) == sum(len(trial.runs) for trial in whole), "nothing was run twice"


def test_neither_the_workers_nor_who_of_them_ends_first_changes_the_table(location, planned: Planned, tmp_path) -> None:
    plan, other = planned(LR, trials=8), str(tmp_path / "other.db")
    with open_store(location) as store:
        begin_search(store, plan.name, {**plan.described(), "window": 3})
        one = run_search(store, location, plan, WorkersHere(1), nobody)
    with open_store(other) as store:
        begin_search(store, plan.name, {**plan.described(), "window": 3})
        three = run_search(store, other, plan, WorkersHere(3, is_newest_first=True), nobody)
    assert table(one) == table(three)


def test_more_trials_go_on_where_fewer_ended(location, planned: Planned, tmp_path) -> None:
    other = str(tmp_path / "other.db")
    with open_store(location) as store:
        first = searched(store, location, planned(LR, trials=3))
        more = searched(store, location, planned(LR, trials=6))
        fewer = searched(store, location, planned(LR, trials=2))
    with open_store(other) as store:
        at_once = searched(store, other, planned(LR, trials=6))
    assert table(more) == table(at_once)
    assert more[:3] == first
    assert fewer == more


def test_a_failed_trial_is_recorded_tried_again_and_ends_no_other(store, location, planned: Planned) -> None:
    plan = planned("client.lr: [0.05, 1.0e+30]", trials=5, sampler="random")
    found = searched(store, location, plan)
    bad = [trial for trial in found if trial.settings["client.lr"] == 1e30]
    assert bad
    assert all(trial.state == "failed" and "no client gave an update" in trial.error for trial in bad)
    assert all(trial.state == "done" for trial in found if trial not in bad)
    runs = {run_id for trial in bad for run_id in trial.runs}
    assert table(searched(store, location, plan)) == table(found)
    again = {run_id for trial in trials(store, plan.name) if trial.state == "failed" for run_id in trial.runs}
    assert again == runs, "the failed run goes on, nothing is begun anew"


def test_equal_settings_share_their_run(store, location, planned: Planned) -> None:
    found = searched(store, location, planned("client.lr: [0.05, 0.1]", trials=6), jobs=2)
    assert len(read.runs(store)) == 2
    for trial in found:
        assert trial.runs == found[[each.settings for each in found].index(trial.settings)].runs


def test_trials_whose_runs_were_removed_are_run_again(store, location, planned: Planned) -> None:
    plan = planned(LR, trials=3)
    found = searched(store, location, plan)
    remove(store, [found[1].runs[0]])
    again = searched(store, location, plan)
    assert table(again) == table(found)
    assert again[1].runs != found[1].runs


def test_a_search_that_goes_on_elsewhere_is_left_alone(store, location, planned: Planned) -> None:
    plan = planned(LR, trials=2)
    with open_store(location) as other, Claims(other) as claims:
        assert claims.take(f"search/{plan.name}")
        with pytest.raises(StoreError, match="going on in another process"):
            searched(store, location, plan)


def test_settings_that_fit_nothing_fail_their_trial_only(store, location, planned: Planned) -> None:
    """Within the corners, which are checked beforehand, a combination may still be impossible."""
    base = "base: {communication: one-shot, data.limit: 200, model: mlp, partition.clients: 3}"
    plan = planned("client.epochs: {low: 1, high: 5}, checkpoints: {low: 1, high: 5}", base=base, trials=8)
    found = searched(store, location, plan)
    impossible = [each for each in found if each.settings["checkpoints"] > each.settings["client.epochs"]]
    assert impossible
    for trial in found:
        assert (trial.state == "failed") == (trial in impossible)
    assert all("need at least as many client.epochs" in trial.error and not trial.runs for trial in impossible)


def test_a_run_that_another_process_still_holds_is_waited_for(store, location, planned: Planned, monkeypatch) -> None:
    """As after a kill, while the worker of the killed search comes to its end."""
    plan = planned(LR, trials=1)
    with open_store(str(location) + ".other") as other:
        settings = searched(other, str(location) + ".other", plan)[0].settings
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(plan.config(settings, 0), None), Breaks(KeyboardInterrupt(), 0))
    held = read.find_run(store, "latest").run_id
    lock = ExitStack()
    lock.enter_context(write.hold(store, held))
    write.restart(store, held, read.find_run(store, held).environment)
    monkeypatch.setattr("equipoise.run.search.search.time.sleep", lambda _: lock.close())
    found = searched(store, location, plan)
    assert (found[0].state, found[0].runs) == ("done", (held,))
