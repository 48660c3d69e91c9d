"""The sentence that a paper can quote: complete, in both languages, and without a claim that numbers do not carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from equipoise.diagnose.finding import Finding, Verdict
from equipoise.report.claims import claims
from equipoise.report.comparison import Comparison, ComparisonRow
from equipoise.report.content import Configuration, GroupedFinding
from equipoise.report.methods import SweepRow
from equipoise.report.ranks import Ranking
from equipoise.report.sentence import Quoted, sentence
from equipoise.report.statistics import mean_std
from equipoise.report.words import words
from equipoise.store.records import PartitionRecord
from tests.unit.report.sweeps import rows_of, run_of

PARTITION = PartitionRecord(
    fingerprint="p", name="dirichlet", options={"alpha": 0.1, "clients": 5}, skew={"emd": 1.204, "overlap": 0.0},
    counts=[[3, 4]] * 5, overlaps=False, owners="",
)  # fmt: skip
A, B = ("A", {"method": {"name": "a"}}), ("B", {"method": {"name": "b"}})


def quoted(rows: Sequence[SweepRow], finals: Mapping[str, float], **rest: Any) -> Quoted:
    """Each run sends 20 kB up and 40 kB down in all."""
    lines = []
    for row in rows:
        held = mean_std([finals.get(run.run_id, 0.0) for run in row.runs])
        lines.append(
            ComparisonRow(
                row.label, "accuracy/merged", [run.run_id for run in row.runs], [run.seed for run in row.runs], held,
                held, None, {}, 20_000, 40_000,
            )
        )  # fmt: skip
    known = {
        "rows": rows, "comparison": Comparison(lines, {}), "finals": finals, "over_users": {},
        "partitions": {"p": PARTITION}, "configurations": [],
    }  # fmt: skip
    return Quoted(**{**known, **rest})


def said(of: Quoted, language: str = "en") -> str:
    say = words(language)
    return sentence(of, claims(of, say), say)


def one(*values: float) -> Quoted:
    rows = rows_of(A, seeds=range(len(values)))
    return quoted(rows, {f"A/{seed}": value for seed, value in enumerate(values)})


def two(ours: Sequence[float], theirs: Sequence[float], **rest: Any) -> Quoted:
    rows = rows_of(A, B, seeds=range(len(ours)))
    finals = {f"{label}/{seed}": value for label, own in (("A", ours), ("B", theirs)) for seed, value in enumerate(own)}
    return quoted(rows, finals, **rest)


def test_one_configuration_over_seeds() -> None:
    """t(.975, 2)·10/√3 = 24.84 points around a mean of 50; 20 and 40 kB over 5 clients."""
    assert said(one(0.4, 0.5, 0.6)) == (
        "a on digits (5 clients, dirichlet α 0.1, label EMD 1.20, 6 rounds of 2-epoch local training): "
        "final test accuracy of the merged model 50.00 % ± 24.84 (95 % interval, 3 seeds); "
        "per client 4 kB up and 8 kB down; no finding above a note."
    )


def test_one_configuration_in_chinese() -> None:
    assert said(one(0.4, 0.5, 0.6), "zh") == (
        "a，digits（5 个客户端，dirichlet α 0.1，标签 EMD 1.20，6 轮，每轮本地 2 个 epoch）："
        "最终合并模型的测试准确率 50.00 % ± 24.84（95 % 区间，3 个种子）；"
        "每个客户端上行 4 kB，下行 8 kB；没有高于“提示”的问题。"
    )


def test_a_single_seed_has_no_interval_over_seeds() -> None:
    assert "50.00 % (one seed);" in said(one(0.5))
    over_users = replace(one(0.5), over_users={"A/0": (41.0, 59.0)})
    assert "50.00 % (95 % over users 41.00 to 59.00 %, one seed);" in said(over_users)


def test_a_lead_is_claimed_only_if_its_interval_leaves_out_zero() -> None:
    """Differences of 10, 11 and 12 points: 11 ± 4.303·1/√3. Differences of −10, 0 and 40 say nothing."""
    clear = said(two([0.60, 0.61, 0.62], [0.5, 0.5, 0.5]))
    assert "A 61.00 % ± 2.48 (95 % interval, 3 seeds), 11.00 points (95 % 8.52 to 13.48) ahead of B" in clear
    unclear = said(two([0.4, 0.5, 0.9], [0.5, 0.5, 0.5]))
    assert ", not clearly ahead of B (10.00 points, 95 % " in unclear
    assert "points (95 % " not in unclear
    assert ", then B, without a test" in said(two([0.6], [0.5]))


@pytest.mark.parametrize(("p", "critical", "words_"), [
    (0.001, 0.5, "best mean rank 1.00: A, clear of B over 9 blocks (Friedman p = 0.001, Nemenyi)"),
    (0.001, 1.5, "best mean rank 1.00: A, clear of no method over 9 blocks"),
    (0.2, 0.5, "best mean rank 1.00: A, clear of no method over 9 blocks (Friedman p = 0.2"),
])  # fmt: skip
def test_ranks_are_claimed_only_as_far_as_their_test_goes(p: float, critical: float, words_: str) -> None:
    found = Ranking({"A": 1.0, "B": 2.0}, 9, 9.0, p, critical, {})
    assert words_ in said(two([0.6, 0.7], [0.5, 0.5], ranking=found))


def test_of_methods_with_the_same_rank_one_was_called_the_best() -> None:
    found = Ranking({"A": 1.5, "B": 1.5}, 9, 0.0, 1.0, 0.5, {})
    assert "best mean rank 1.50: A, B, clear of no method" in said(two([0.6, 0.5], [0.5, 0.6], ranking=found))


def test_each_setting_has_its_leader_and_many_settings_are_counted() -> None:
    parts = [{"name": "dirichlet", "alpha": alpha} for alpha in (0.1, 0.2, 0.3, 0.4)]
    rows = rows_of(
        *(
            (f"{label} alpha={part['alpha']}", {**blocks, "partition": part})
            for label, blocks in (A, B)
            for part in parts
        )
    )
    finals = {run.run_id: 0.5 + 0.1 * (row.method == "A") for row in rows for run in row.runs}
    text = said(quoted(rows, finals))
    assert text.startswith("2 methods on digits (")
    assert "at alpha=0.1 A 60.00 % (one seed), then B, without a test; at alpha=0.2 A" in text
    assert "; 1 more settings in the table;" in text


def test_a_single_method_has_no_leader() -> None:
    parts = [{"name": "dirichlet", "alpha": alpha} for alpha in (0.1, 0.2)]
    rows = rows_of(*((f"alpha={part['alpha']}", {"partition": part}) for part in parts))
    text = said(quoted(rows, {"alpha=0.1/0": 0.5, "alpha=0.2/0": 0.6}))
    assert text.startswith("fedavg on digits (")
    assert "model: at alpha=0.1" not in text
    assert "final test accuracy of the merged model at alpha=0.1 50.00 % (one seed); at alpha=0.2 60.00 % (one" in text
    assert "highest" not in text


def test_methods_with_different_metrics_are_not_ranked_against_each_other() -> None:
    rows = [*rows_of(A, B), SweepRow("C", "C", "", [run_of("C/0", headline="accuracy/clients")])]
    text = said(quoted(rows, {"A/0": 0.5, "B/0": 0.4, "C/0": 0.99}))
    assert "highest final test accuracy of the merged model: A 50.00 %" in text


def test_what_failed_and_what_was_found_is_in_the_verdict() -> None:
    finding = GroupedFinding(Finding("lr-cut", "warning", [], [], [], "", "", "", ""), ["A/0"])
    rows = [SweepRow("A", "A", "", [run_of("A/0", status="failed"), run_of("A/1", 1)])]
    held = Configuration("A", rows[0].runs, [finding], Verdict([], {}, []), rows[0].runs[0])
    text = said(quoted(rows, {"A/1": 0.5}, configurations=[held]))
    assert text.endswith("; 1 of 2 runs did not finish; findings above a note in 1 of 2 runs, first lr-cut.")


def test_runs_that_were_never_scored_have_a_sentence() -> None:
    rows = [SweepRow("A", "A", "", [run_of("A/0", status="failed", fingerprint=None)])]
    assert said(quoted(rows, {}, comparison=None, partitions={})) == (
        "fedavg on digits (6 rounds of 2-epoch local training): nothing was scored; 1 of 1 runs did not finish; "
        "no finding above a note."
    )


def test_how_training_went_is_said_for_one_upload_a_policy_and_few_clients_per_round() -> None:
    once = {"communication": "one-shot", "client": {"epochs": 10}, "balance": {"name": "v10"}}
    text = said(quoted(rows_of(("A", once)), {"A/0": 0.5}))
    assert text.startswith("fedavg with λ policy v10 on digits (")
    assert "one upload after 10-epoch local training)" in text
    few = said(quoted(rows_of(("A", {"server": {"fraction": 0.05}})), {"A/0": 0.5}))
    assert "6 rounds of 2-epoch local training, 5 % of the clients per round)" in few
