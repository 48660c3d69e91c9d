from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from equipoise.config.loader import load
from equipoise.core.errors import ConfigError
from equipoise.evaluate.targets import metrics
from equipoise.run.build import build, make_engine
from equipoise.run.checkpoint import pack, unpack
from equipoise.run.loop import federate, first_snapshot
from equipoise.server.item_sums import sums_of
from tests.conftest import assert_same, nobody, numbers, records

SMALL = ("data.users=24", "data.length=24", "data.items=160")


def config(*changes: str):
    return load("rec/analytic", [*SMALL, *changes]).config


@pytest.fixture(scope="module")
def run():
    return records(config())


def test_every_user_sends_once_and_nothing_goes_down(run):
    (record,) = run
    assert record.snapshot.server.model.keys() == {"markov", "ridge"}
    found, federation = numbers(run), build(config())
    n_items = federation.judge.histories.interactions.n_items
    assert all(table.shape == (n_items, n_items) for table in record.snapshot.server.model.values())
    data, ends = federation.judge.histories.interactions, federation.judge.histories.train_end
    reports = [sums_of([data.history(u)[: ends[u]]], n_items, federation.method.for_kind) for u in range(24)]
    sent = [sum(tensor.numel() * tensor.element_size() for tensor in report.values()) for report in reports]
    assert found[0, None, "bytes/down"] == 0
    assert found[0, None, "bytes/up"] == sum(sent)
    assert [found[0, user, "bytes/report"] for user in range(24)] == sent


def test_nobodys_sums_are_kept(run):
    (record,) = run
    assert not record.snapshot.server.sums
    assert all(not own.report and not own.model for own in record.snapshot.own.values())


def test_sums_hold_no_held_out_item(run):
    """The tables are those of histories that end before validation."""
    federation = build(config())
    histories = federation.judge.histories
    data = histories.interactions
    cut = [data.history(user)[: histories.train_end[user]] for user in range(24)]
    assert all(len(data.history(user)) - len(cut[user]) == 2 for user in range(24))
    whole = federation.method.exchange
    total: dict[str, torch.Tensor] = {}
    for history in cut:
        assert whole.add(total, sums_of([history], data.n_items, federation.method.for_kind)) is None
    after = federation.method.merge(replace(run[0].snapshot.server, sums=total), [])
    assert_same(after.model, run[0].snapshot.server.model)


@pytest.mark.parametrize("score", ["markov", "ridge"])
def test_either_part_runs_alone(score):
    found = numbers(records(config(f"method.score={score}")))
    assert 0 <= found[0, None, "hr@10/full"] <= 1
    assert not [name for _, _, name in found if name.startswith("blend/")]


def test_transitions_alone_rank_as_the_reference_table():
    found = numbers(records(config("method.score=markov")))
    for name in ("hr@10/full", "ndcg@10/full", "mrr/full"):
        assert found[0, None, name] == pytest.approx(found[0, None, f"{name}/markov"])


def test_the_weight_is_that_of_the_best_validation_score(run):
    found = numbers(run)
    assert found[0, None, "blend/ridge"] in [k / 10 for k in range(11)]
    assert found[0, None, "blend/ridge/validation"] == pytest.approx(found[0, None, "ndcg@10/full/validation"])


def test_processes_give_the_numbers_of_this_process(run):
    there = records(config("engine=processes", "engine.workers=2"))
    for name, table in run[0].snapshot.server.model.items():
        found = there[0].snapshot.server.model[name]
        assert torch.allclose(found, table, rtol=1e-4, atol=1e-6), name  # sums come in another order
    ours, theirs = numbers(run), numbers(there)
    assert theirs[0, None, "bytes/up"] == ours[0, None, "bytes/up"]


def test_a_stored_state_is_scored_the_same(run):
    federation, (record,) = build(config()), run
    best = unpack(pack(record.snapshot)).best
    found = federation.judge.final(replace_merged(best), best.own)
    assert found[None, "hr@10/full"] == numbers(run)[0, None, "hr@10/full"]


def replace_merged(best):
    from equipoise.server.predict import Merged

    return Merged(best.model, (), best.broadcast)


def test_a_report_of_another_catalogue_is_refused_and_the_others_count(run):
    federation = build(config())
    engine = make_engine(federation.site)

    class Bent:
        """Client 3, who answers last, sends sums of another catalogue."""

        def map(self, tasks):
            for result in sorted(engine.map(tasks), key=lambda result: result.client == 3):
                if result.client == 3:
                    report = {**result.own.report, "items": result.own.report["items"] + 1}
                    yield replace(result, own=replace(result.own, report=report))
                else:
                    yield result

        def take_events(self):
            return engine.take_events()

    (record,) = federate(federation, Bent(), first_snapshot(federation), 0, nobody)
    refused = [event for event in record.events if event.kind == "client-report-refused"]
    assert [event.client for event in refused] == [3]
    assert "its report is of" in refused[0].message
    assert record.snapshot.server.model.keys() == {"markov", "ridge"}


WRONG = {
    "an unknown score": (("method.score=markow",), "method.score: Input should be 'markov', 'ridge' or 'blend'"),
    "rounds": (("communication=rounds", "checkpoints=null"), "needs one upload"),
    "a network that trains": (("model=sasrec",), "has weights to train; set model=item-tables"),
    "a method that trains": (
        ("method=fedavg",),
        "has nothing to train, which 'fedavg' would; set method=analytic-items",
    ),
    "no regularisation": (("method.strength=0",), "method.strength"),
    "sums beside sums": (("server.sums=blend",), "is made of such sums"),
    "gaps beyond ten": (("method.gaps=11",), "method.gaps"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_settings_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ConfigError) as raised:
        config(*changes)
    assert message in str(raised.value)


def test_sums_are_for_interactions():
    with pytest.raises(ConfigError, match="is for interactions, and data 'digits' holds images"):
        load("fedavg", ["server.sums=blend"])
    with pytest.raises(ConfigError, match="has no server's model to add their scores to"):
        load("rec/local-only", ["server.sums=blend"])


def test_streams_are_refused_before_anything_is_sent():
    with pytest.raises(ConfigError, match="sums are sent once, and a stream is trained on slice by slice"):
        build(config("data.split=slices", "data.slices=4"))


def test_more_items_than_memory_holds_are_refused_with_the_number_that_fits(monkeypatch):
    monkeypatch.setattr("equipoise.kind.histories.require.memory", lambda: 56 * 100**2)
    with pytest.raises(ConfigError, match=r"sums over pairs of \d+ items take .* GiB: 100 items fit") as raised:
        build(config())
    assert raised.value.where == "data"
    assert raised.value.fix


TRAINED = ("data.users=24", "data.length=24", "data.items=160", "rounds=3", "server.fraction=0.5", "seed=3")


def test_a_trained_model_ranks_together_with_everybodys_sums():
    alone, both = (
        numbers(records(load("rec/sasrec", [*TRAINED, *more]).config)) for more in ((), ("server.sums=blend",))
    )
    sums = numbers(records(config("seed=3")))
    assert both[2, None, "bytes/up"] == alone[2, None, "bytes/up"] + sums[0, None, "bytes/up"]
    assert both[0, None, "bytes/up"] == alone[0, None, "bytes/up"], "users are asked once, at the end"
    assert both[2, None, "hr@10/full/validation"] == alone[2, None, "hr@10/full/validation"]
    assert both[2, None, "blend/ridge"] == sums[0, None, "blend/ridge"]
    assert both[2, None, "blend/sums/validation"] >= sums[0, None, "ndcg@10/full/validation"] - 1e-6
    if both[2, None, "blend/sums"] == 1:
        assert both[2, None, "hr@10/full"] == pytest.approx(sums[0, None, "hr@10/full"])


def test_a_run_that_may_end_early_asks_once():
    found = numbers(records(load("rec/sasrec", [*TRAINED, "evaluate.patience=5", "evaluate.every=1",
                                                "server.sums=markov"]).config))  # fmt: skip
    assert [step for step in range(3) if (step, None, "bytes/told") in found] == [0]


def test_metrics_of_ranks_are_what_a_blend_is_chosen_by(run):
    federation = build(config())
    target, scorer = federation.judge.target("validation"), federation.judge.item_scorer
    scores = scorer.user_scores(replace_merged(run[0].snapshot.best), {}, target.positions)
    assert metrics(target.ranks(scores))["ndcg@10/full"] == pytest.approx(
        numbers(run)[0, None, "blend/ridge/validation"]
    )
    assert np.isfinite(scores.numpy()).all()
