"""What every federation of recommenders promises, on generated histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from equipoise.config.loader import load
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, DataError
from equipoise.core.registry import BALANCES
from equipoise.core.values import ClientUpdate
from equipoise.engine.local import Local
from equipoise.evaluate import recommender
from equipoise.evaluate.intervals import paired
from equipoise.memory.dynamic import COLUMNS
from equipoise.run.advance import plan
from equipoise.run.build import Federation, build, make_engine
from equipoise.run.checkpoint import pack, unpack
from equipoise.run.loop import federate, first_snapshot
from equipoise.run.opening import opening
from equipoise.server.predict import Merged
from tests.conftest import assert_same, nobody, numbers, records, untouched_rng

SMALL = ("data.users=24", "data.length=24", "data.items=160", "model.length=8", "model.width=16", "rounds=3")
SMALL += ("server.fraction=0.2", "client.batch=2", "client.lr=1.0")


def rec(*overrides: str) -> Config:
    """24 users, 160 items, three rounds of five clients; a later override wins."""
    given = {text.split("=")[0]: text for text in (*SMALL, "evaluate.every=1", *overrides)}
    return load("rec/feddmmr", list(given.values())).config


ID_ONLY = ("model=sasrec", "model.length=8", "model.width=16", "model.heads=2", "model.blocks=1", "balance=none")
KINDS = {
    "id only": ID_ONLY,
    "visual": ("model.experts=visual", "balance=none"),
    "both": (),
    "recent": ("method.memory=recent",),
    "global memory": ("method.common=4", "method.prototypes=2"),
    "learnt λ": ("balance=decoupled-hinge",),
    "adamw": ("client.optimiser=adamw", "client.lr=0.01"),
    "whole catalogue": ("method.loss=softmax",),
    "sampled": ("method.loss=sampled", "method.negatives=9"),
    "bpr": ("method.loss=bpr", "method.negatives=9"),
    "all that is unmet": ("method.loss=sampled", "method.negatives=150"),
    "bpr with all": ("method.loss=bpr", "method.negatives=150"),
    "personal router": ("server.personal=[router]",),
    "staged": ("client.stages=[{rounds: 1, groups: [items, backbone]}]",),
    "the report's form": ("model.fusion=identity", "model.router=item", "model.scoring=cosine"),
    "gate that nothing reads": ("model.fusion=disconnected", "method.weighting=after-mean"),
}


GROUPS = ("/long", "/short", "/head", "/tail", "/drifted", "/steady")
"""Means over some of the users, maybe two: all of them together are compared."""


def nearness(name: str) -> float:
    """How far apart a number may be that was summed in another order.

    Neighbours in rank may be as near as rounding. An item passes two of them at the most, and then one of 24 users, in
    the ends of an interval a user that was drawn three times, or one position counts otherwise.
    """
    if name.startswith("rank/"):
        return 2
    return 1 / 8 if name.startswith(("hr@", "ndcg@", "mrr", "accuracy/")) else 2e-4


SAME_LOSS = {"visual", "all that is unmet", "bpr with all"}
"""Kinds whose arithmetic is that of another kind, of other sizes."""
SAME_STATE = SAME_LOSS | {"whole catalogue", "sampled", "bpr"}
"""Kinds that keep no more than another kind."""


def kinds(elsewhere: set[str]) -> list[object]:
    return [pytest.param(kind, marks=pytest.mark.slow if kind in elsewhere else ()) for kind in KINDS]


@pytest.mark.parametrize("kind", kinds(SAME_LOSS))
def test_clients_on_one_axis_are_clients_one_after_another(kind):
    """The vectorised path within float tolerance of the sequential one: every recorded number, and the weights."""
    steady = "method.server.tau=0.001"  # a server that does not take whole steps along rounding noise
    together, alone = (records(rec(*KINDS[kind], "rounds=2", steady, f"engine.together={size}")) for size in (4, 1))
    ours, theirs = numbers(together), numbers(alone)
    assert ours.keys() == theirs.keys()
    unread = {f"grad/unreached/experts.{name}.gate" for name in ("visual", "text")}
    assert {key[2] for key in ours if "unreached" in key[2]} == (unread if kind == "gate that nothing reads" else set())
    for key in ours:
        if not key[2].endswith(GROUPS):
            assert ours[key] == pytest.approx(theirs[key], rel=2e-3, abs=nearness(key[2])), key
    for name, tensor in together[-1].snapshot.server.model.items():
        near = 1e-5 if kind != "adamw" else 0.02  # AdamW takes whole steps along gradients that are rounding noise
        assert torch.allclose(tensor, alone[-1].snapshot.server.model[name], rtol=1e-3, atol=near), name


@pytest.mark.parametrize("kind", kinds(SAME_STATE))
def test_a_run_that_goes_on_from_its_checkpoint_is_never_having_stopped(kind):
    federation = build(rec(*KINDS[kind], "rounds=2"))
    whole = records(federation)
    again = unpack(pack(whole[0].snapshot))
    rest = list(federate(federation, Local(federation.site), again, 1, nobody))
    assert numbers(rest) == {key: value for key, value in numbers(whole).items() if key[0] > 0}


def test_processes_give_the_numbers_of_this_process():
    ours, local = (records(rec("rounds=1", f"engine={name}")) for name in ("processes", "local"))
    assert numbers(ours) == numbers(local)


def test_training_leaves_the_global_generators_alone():
    federation = build(rec())
    with untouched_rng():
        list(Local(federation.site).map(plan(federation, first_snapshot(federation), 0)))


def test_a_fraction_of_the_users_trains_in_a_round_and_every_user_is_a_client():
    federation = build(rec())
    assert federation.n_clients == 24
    assert len(plan(federation, first_snapshot(federation), 0)) == 5  # a fifth


def test_an_untrained_model_is_at_chance_under_both_protocols():
    federation = build(rec("data.users=200", "data.items=200"))
    scores = federation.judge.final(Merged(federation.start, ()), {})
    for protocol, share in (("full", 0.0), ("uni100", 10 / 101)):
        chance = scores[None, f"hr@10/{protocol}/chance"]
        assert share == 0 or chance == pytest.approx(share)
        assert abs(scores[None, f"hr@10/{protocol}"] - chance) < 2 * np.sqrt(chance * (1 - chance) / 200)


def test_what_is_gained_over_markov_is_the_mean_over_users_with_its_interval():
    federation = build(rec())
    found = federation.judge.final(Merged(federation.start, ()), {})
    for protocol in ("full", "uni100"):
        ours, theirs = (
            {user: rank for (user, name), rank in found.items() if name == f"rank/{protocol}{end}"}
            for end in ("", "/markov")
        )
        assert ours.keys() == theirs.keys() == set(range(24))
        assert np.mean([rank <= 10 for rank in theirs.values()]) == found[None, f"hr@10/{protocol}/markov"]
        gains = [(ours[user] <= 10) - float(theirs[user] <= 10) for user in range(24)]
        assert found[None, f"hr@10/{protocol}/over_markov"] == pytest.approx(np.mean(gains))
        expected = paired(*(np.array([of[user] <= 10 for user in range(24)], float) for of in (ours, theirs)), seed=0)
        low, high = (found[None, f"hr@10/{protocol}/over_markov/{end}"] for end in ("low", "high"))
        assert (low, high) == (expected.low, expected.high)


def test_the_same_weights_scored_twice_give_the_same_figures():
    federation = build(rec())
    (first,) = {tuple(federation.judge.final(Merged(federation.start, ()), {}).items()) for _ in range(2)}
    assert first


def test_the_best_state_scored_again_gives_the_figures_it_was_stored_with():
    federation = build(rec())
    last = records(federation)[-1]
    best = unpack(pack(last.snapshot)).best
    assert best is not None
    again = federation.judge.final(Merged(best.model, (), best.broadcast), best.own)
    stored = {(row.client, row.name): row.value for row in last.rows}
    assert again == {key: stored[key] for key in again}
    validation = {
        (r.step, row.value) for r in records(federation) for row in r.rows if row.name == "ndcg@10/full/validation"
    }
    assert (best.step, best.value) == max(validation, key=lambda pair: (pair[1], -pair[0]))


def test_test_is_scored_once_at_the_end():
    steps = records(rec())
    assert [any(row.name == "hr@10/full" for row in step.rows) for step in steps] == [False, False, True]


def test_a_run_ends_when_validation_no_longer_improves():
    steps = records(rec("rounds=40", "evaluate.patience=2", "method.server.lr=1e-9", "client.lr=1e-9"))
    assert len(steps) < 10
    assert any(row.name == "hr@10/full" for row in steps[-1].rows)


def test_patience_counts_what_was_scored():
    """Every fifth round is: best in the fifth, no better in the tenth and in the fifteenth."""
    still = ("method.server.lr=1e-9", "client.lr=1e-9", *ID_ONLY)
    assert len(records(rec("rounds=40", "evaluate.every=5", "evaluate.patience=2", *still))) == 15


def test_a_stream_that_should_wait_for_validation_is_refused():
    with pytest.raises(ConfigError, match="a stream has no validation score") as caught:
        build(rec("data.split=slices", "data.slices=4", "evaluate.patience=2"))
    assert "evaluate.patience=null" in caught.value.fix


def test_what_a_stage_does_not_train_stays_to_the_last_bit():
    federation = build(rec("client.stages=[{rounds: 2, groups: [experts, router]}]"))
    steps, start = records(federation), federation.start
    frozen = [name for group in ("items", "backbone") for name in federation.groups[group]]
    assert_same({n: steps[1].snapshot.server.model[n] for n in frozen}, {n: start[n] for n in frozen})
    moved = steps[1].snapshot.server.model["experts.visual.out"]
    assert not torch.equal(moved, start["experts.visual.out"])
    assert not torch.equal(steps[2].snapshot.server.model["items.weight"], start["items.weight"])


@pytest.mark.parametrize("balance", sorted(set(BALANCES.names()) - {"progressive"}))
def test_any_policy_weighs_how_the_experts_agree(balance):
    """`progressive` moves prototypes, which a recommender has not. Weights follow the alignment as λ does."""
    used, alone = (numbers(records(rec(f"balance={name}", "rounds=2"))) for name in (balance, "none"))
    assert {key for key in used if key[2] == "loss/align"} == {key for key in alone if key[2] == "loss/align"} != set()
    lams = [value for (_, _, name), value in used.items() if name == "lam/used"]
    assert len(lams) == 2 * 5
    assert all(np.isfinite(lams))
    assert min(lams) >= 0
    moved = any(used[key] != alone[key] for key in used if key[2] == "update/norm")
    assert moved == (balance != "none")


@pytest.mark.parametrize(("balance", "said"), [("entropy", ["lambda-constant"]), ("constant", [])])
def test_a_policy_that_goes_by_classes_says_that_a_history_has_none(balance, said):
    federation = build(rec(f"balance={balance}"))
    assert [
        event.kind for event in opening(federation, make_engine(federation.site), first_snapshot(federation))
    ] == said


def test_what_is_personal_is_never_merged_and_kept_by_its_client():
    federation = build(rec("server.personal=[router]", "server.fraction=1.0"))
    last = records(federation)[-1].snapshot
    names = federation.groups["router"]
    assert_same({n: last.server.model[n] for n in names}, {n: federation.start[n] for n in names})
    assert all(own.model.keys() == set(names) for own in last.own.values())
    biases = {tuple(own.model["router.bias"].tolist()) for own in last.own.values()}
    assert len(biases) == 24


@pytest.mark.parametrize("key", ["server.personal=[rooter]", "client.stages=[{rounds: 1, groups: [rooter]}]"])
def test_a_group_that_the_model_has_not_is_refused(key):
    with pytest.raises(ConfigError, match="the model has no group 'rooter'; did you mean 'router'"):
        build(rec(key))


@pytest.mark.parametrize(("kind", "is_balanced"), [("visual", False), ("both", True)])
def test_one_expert_has_no_use_to_balance(kind, is_balanced):
    names = {name for _, _, name in numbers(records(rec("rounds=1", *KINDS[kind])))}
    assert ("loss/lb" in names) == is_balanced


def test_stages_that_take_longer_than_the_run_are_refused():
    with pytest.raises(ConfigError, match="the stages take 9 rounds and the run has 2"):
        build(rec("rounds=2", "client.stages=[{rounds: 9, groups: [backbone]}]"))


def test_rows_that_a_client_does_not_touch_are_not_even_there():
    federation = build(rec("method.loss=sampled", "method.negatives=3"))
    tasks = plan(federation, first_snapshot(federation), 0)
    for result in Local(federation.site).map(tasks):
        assert isinstance(result, ClientUpdate)
        rows = result.rows["items.weight"]
        history = federation.site.history(result.client, 0).items
        assert set(history.tolist()) <= set(rows.tolist())
        assert len(rows) == len(np.unique(history)) + 3
        assert result.model["items.weight"].shape == (len(rows), 16)
        assert result.model["items.bias"].shape == (len(rows),)


def test_rows_are_averaged_over_the_clients_that_hold_them():
    federation = build(rec("method.loss=sampled", "method.negatives=3", "method.server.optimiser=none", "rounds=1"))
    tasks = plan(federation, first_snapshot(federation), 0)
    results = sorted(Local(federation.site).map(tasks), key=lambda result: result.client)
    after = records(federation)[-1].snapshot.server.model["items.bias"]
    for item in range(len(after)):
        held = [(r.samples, r.model["items.bias"][r.rows["items.bias"] == item]) for r in results]
        held = [(n, value.item()) for n, value in held if len(value)]
        expected = (
            sum(n * v for n, v in held) / sum(n for n, _ in held) if held else federation.start["items.bias"][item]
        )
        assert after[item].item() == pytest.approx(float(expected), abs=1e-6)


def test_traffic_of_a_sampled_loss_is_rows_not_tables():
    """Of each client the rows of its items and one drawn, D + 1 numbers of four bytes, eight that say which row, and
    all other weights. With a softmax all rows of the table, in their order."""
    one = ("method.loss=sampled", "method.negatives=1")
    small, whole = (build(rec(*ID_ONLY, *kind, "rounds=1")) for kind in (one, ()))
    tasks = plan(small, first_snapshot(small), 0)
    rest = sum(tensor.numel() for name, tensor in small.start.items() if name not in {"items.weight", "items.bias"})
    held = [len(np.unique(small.site.history(task.client, 0).items)) + 1 for task in tasks]
    expected = {
        "sampled": sum(n * (16 + 1) * 4 + 8 * n + 4 * rest for n in held),
        "whole": len(tasks) * 4 * (len(whole.start["items.bias"]) * (16 + 1) + rest),
    }
    for name, federation in (("sampled", small), ("whole", whole)):
        sent = {row.name: row.value for row in records(federation)[-1].rows if row.client is None}
        assert sent["bytes/up"] == expected[name]
        assert sent["bytes/down"] == expected[name]


def test_one_client_with_all_histories_is_the_centralised_run():
    """FedAvg over a single client that holds everybody's data, against the method that pools it."""
    common = (*ID_ONLY, "client.batch=4", "rounds=3", "client.momentum=0")
    central = records(rec(*common, "method=centralised"))[-1].snapshot.server.model
    federation = build(rec(*common, "method=fedavg", "server.fraction=1.0"))
    one = replace(federation.site, users=[np.arange(24)])
    federated = records(replace(federation, site=one))[-1].snapshot.server.model
    assert_same(federated, central)


def test_a_target_is_in_memory_as_often_in_training_as_in_the_end():
    """Never: a generated history repeats no item, and a memory holds nothing later."""
    federation = build(rec())
    recipe = federation.site.recipe()
    last = records(federation)[-1].snapshot
    for task in plan(federation, last, 2):
        feed = recipe.feed(task)
        for windows in feed.steps(task.epochs[0]):
            read = [set(row[ok].tolist()) for row, ok in zip(windows.memory, windows.memory_valid, strict=True)]
            for row, ok, memory in zip(windows.targets, windows.valid, read, strict=True):
                assert not memory & set(row[ok].tolist())
    target = federation.judge.target("test")
    windows = federation.judge.item_scorer.windows(target.positions, last.own)
    assert all(
        item not in row[ok] for item, row, ok in zip(target.items, windows.memory, windows.memory_valid, strict=True)
    )


def test_the_memory_fills_and_is_kept_with_its_client():
    last = records(rec("server.fraction=1.0"))[-1]
    assert len(last.snapshot.own) == 24
    for own in last.snapshot.own.values():
        assert (own.memory["loss"] >= 0).sum() == len(own.memory["loss"]) - 1  # the first item is nobody's target
        assert len(own.memory["positions"]) > 0
    rates = [row.value for row in last.rows if row.name == "memory/write_rate"]
    assert 0 < np.mean(rates) < 1


def test_what_the_server_remembers_is_read_by_every_client():
    """Without the global memory the same weights score differently."""
    federation = build(rec("method.common=4", "method.prototypes=2", "client.lr=3.0"))
    best = records(federation)[-1].snapshot.best
    assert best is not None
    assert best.broadcast["common.visual"].shape == (4, 32)
    assert best.broadcast["common.text"].shape == (4, 24)
    target = federation.judge.target("test").positions
    scores = [
        torch.cat(list(federation.judge.item_scorer.scores(best.model, broadcast, best.own, target)))
        for broadcast in (best.broadcast, {})
    ]
    assert not torch.allclose(*scores, atol=1e-6)


@pytest.mark.parametrize(("users", "item_terms"), [(1, 1), (2, 2 * 160 * 2 * 20), (24, 10**9)])
def test_scores_do_not_depend_on_how_many_are_formed_at_once(monkeypatch, users, item_terms):
    """One user at a time, item terms for two times two users, and all at once."""
    federation = build(rec("method.common=4", "method.prototypes=2", "client.lr=3.0"))
    best, positions = records(federation)[-1].snapshot.best, federation.judge.target("test").positions
    item_scorer = federation.judge.item_scorer
    whole = item_scorer.memory_effect(
        best.model, best.broadcast, best.own, positions, federation.judge.target("test").items
    )
    assert whole.effect > 0  # what is remembered matters
    device = item_scorer.work.device
    common = device.there({"visual": best.broadcast["common.visual"], "text": best.broadcast["common.text"]})
    plain = device.home(item_scorer._scored(item_scorer.windows(positions, best.own), common))
    for name in ("SCORES", "SCORES_THERE"):
        monkeypatch.setattr(recommender, name, users * 160)
    monkeypatch.setattr(recommender, "MOST_TERMS", item_terms)
    parts = list(item_scorer.scores(best.model, best.broadcast, best.own, positions))
    assert len(parts) == -(-24 // users)
    assert torch.allclose(torch.cat(parts), plain, atol=1e-4)


def of_table(folder: Path, histories: Sequence[Sequence[int]], *overrides: str) -> Federation:
    """Everybody's items in order, as a table of their own; one round of everybody."""
    rows = [f"{user},{item},{time}" for user, items in enumerate(histories) for time, item in enumerate(items)]
    (folder / "mine.csv").write_text("\n".join(["user,item,time", *rows]))
    mine = ["data=table", "data.file=mine.csv", "rounds=1", "server.fraction=1.0", *overrides]
    return build(load("rec/sasrec", mine).config, folder)


def test_an_item_that_is_met_again_costs_no_more_than_chance(tmp_path):
    """Of 30 items each user meets 40, and some as targets that were met before their window."""
    draw = np.random.default_rng(0)
    found = numbers(records(of_table(tmp_path, [draw.integers(30, size=40).tolist() for _ in range(12)])))
    losses = [value for (_, client, name), value in found.items() if name == "loss/rec" and client is not None]
    assert len(losses) == 12
    assert max(losses) < np.log(30) + 0.1


def test_a_sampled_loss_with_nothing_to_draw_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"1 of 2 users met all 6 items \(the first: 1\)") as caught:
        of_table(tmp_path, [[0, 1, 2, 3, 4, 5], [*range(6), 0, 1]], "method.loss=sampled")
    assert "method.loss=unmet" in caught.value.fix


@pytest.mark.parametrize(
    ("wrong", "message", "fix"),
    [
        (("method.common=4", "method.memory=recent"), "no client has a dynamic memory", "method.common=0"),
        (("method.common=4", *ID_ONLY), "no client has a dynamic memory", "method.common=0"),
        (
            ("server.personal=[items]", *KINDS["sampled"]),
            "items.bias, items.weight would be its own",
            "method.loss=unmet",
        ),
    ],
)
def test_settings_that_would_do_nothing_or_fail_later_are_refused(wrong, message, fix):
    with pytest.raises(ConfigError, match=message) as caught:
        build(rec(*wrong))
    assert fix in caught.value.fix


def test_what_pools_everybodys_data_has_nothing_personal():
    with pytest.raises(ConfigError, match="nothing is personal"):
        build(rec(*ID_ONLY, "method=centralised", "server.personal=[items]"))


@pytest.mark.parametrize(("memory", "kept"), [("recent", {"level"}), ("dynamic", {"loss", "level", *COLUMNS})])
def test_the_level_of_a_clients_losses_outlives_a_visit(memory, kept):
    own = records(rec(f"method.memory={memory}", "server.fraction=1.0"))[-1].snapshot.own
    assert {frozenset(one.memory) for one in own.values()} == {frozenset(kept)}
    assert all(one.memory["level"][1] > 0 for one in own.values())


@pytest.mark.parametrize("optimiser", [("client.optimiser=adamw", "client.lr=0.01"), ("client.momentum=0.5",)])
@pytest.mark.parametrize("method", ["centralised", "local-only"])
def test_a_stage_may_end_where_optimisers_go_on(method, optimiser):
    stage = "client.stages=[{rounds: 1, groups: [items]}]"
    steps = records(rec(*ID_ONLY, f"method={method}", *optimiser, stage, "server.fraction=1.0"))
    models = [step.snapshot.own[0].model["backbone.positions"] for step in steps]
    assert not torch.equal(models[0], models[-1])


def test_a_learnt_lambda_says_where_it_ends_with_a_sampled_loss_too():
    federation = build(rec("balance=uncertainty", *KINDS["sampled"]))
    (event,) = opening(federation, make_engine(federation.site), first_snapshot(federation))
    assert event.kind == "lambda-cap"


def test_a_run_that_was_over_is_not_continued():
    """It stopped between its last round and the word that it is done."""
    still = ("rounds=40", "evaluate.patience=2", "method.server.lr=1e-9", "client.lr=1e-9", *ID_ONLY)
    federation = build(rec(*still))
    last = records(federation)[-1]
    assert list(federate(federation, Local(federation.site), last.snapshot, last.step + 1, nobody)) == []


def test_how_far_clients_moved_is_counted_over_what_is_merged():
    """In the first round everybody moves as they would if all were shared: by less, without the items."""
    kinds = ((), ("server.personal=[items]",), ("server.personal=[items, backbone]",))
    lasts = (records(rec(*ID_ONLY, "rounds=1", "server.fraction=1.0", *kind))[-1] for kind in kinds)
    shared, own, nothing = ({row.client: row.value for row in last.rows if row.name == "update/norm"} for last in lasts)
    assert len(shared) == 24
    assert all(0 < own[client] < shared[client] for client in shared)
    assert nothing == {}


@pytest.mark.parametrize("method", ["centralised", "local-only", "fedavg"])
def test_a_method_without_a_policy_says_what_to_set(method):
    with pytest.raises(ConfigError, match="set balance=none, or method=feddmmr"):
        build(rec(f"method={method}"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("model=cnn",), "'cnn' is not for interactions"),
        (("method=fafi",), "'fafi' is not for interactions"),
        (("partition=dirichlet",), "'dirichlet' is not for interactions"),
    ],
)
def test_what_reads_images_is_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        load("rec/feddmmr", list(wrong))


@pytest.mark.parametrize("model", ["model=sasrec", "model.experts=visual", "model.experts=semantic"])
def test_a_policy_with_nothing_to_weigh_is_refused(model):
    config = load("rec/feddmmr", [model]).config
    with pytest.raises(ConfigError, match="weighs how two experts agree") as caught:
        build(config)
    assert "balance=none" in caught.value.fix


def test_an_expert_without_its_table_is_refused():
    with pytest.raises(ConfigError, match="need features that were not given: text"):
        build(rec("data.text=null"))
