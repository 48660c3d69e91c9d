from __future__ import annotations

import json
from dataclasses import replace
from math import isnan

import pytest

from equipoise.report.comparison import ComparedRun, Comparison, compare, flat_config
from equipoise.report.statistics import HeadlineCurve, UserGains


def config(**changes):
    plain = {"name": "x", "seed": 0, "rounds": 3, "method": {"name": "fedavg"}, "partition": {"alpha": 0.1}}
    return {**plain, "engine": {"name": "local"}, **changes}


def run(run_id: str, seed: int, value: float, label: str = "FedAvg", **changes) -> ComparedRun:
    curve = HeadlineCurve(run_id, seed, [0, 1], [value + 0.1, value], [0.9, 0.8])
    return ComparedRun(label, config(seed=seed, name=run_id, **changes), f"print-{seed}", "accuracy/merged", curve)


PROX = {"method": {"name": "fedprox", "mu": 0.1}}


def test_runs_that_differ_in_their_seed_only_share_a_row():
    runs = [run("a-1", 1, 0.6), run("p-0", 0, 0.7, "FedProx", **PROX), run("a-0", 0, 0.5, engine={"name": "processes"})]
    found = compare(runs)
    assert [line.label for line in found.lines] == ["FedAvg", "FedProx"]
    first = found.lines[0]
    assert (list(first.runs), list(first.seeds)) == (["a-0", "a-1"], [0, 1])
    assert first.final.mean == pytest.approx((0.5 + 0.6) / 2)
    assert first.best.mean == pytest.approx((0.6 + 0.7) / 2)  # validation peaks at the first checkpoint


def test_differences_are_to_the_first_row_over_common_seeds():
    runs = [
        run("a-0", 0, 0.5),
        run("a-1", 1, 0.6),
        run("p-1", 1, 0.9, "FedProx", **PROX),
        run("p-0", 0, 0.8, "F", **PROX),
    ]
    first, second = compare(runs).lines
    assert first.difference is None
    assert second.difference is not None
    assert second.difference.mean == pytest.approx(0.3)
    assert second.difference.n == 2


def test_the_same_items_for_the_same_users_are_compared_user_by_user():
    """Three users, one seed; on other items there is nothing to pair."""
    plain, more = run("a-0", 0, 0.5), run("p-0", 0, 0.7, "FedProx", **PROX)
    for markov, over in ((5.0, "users"), (6.0, None)):
        given = ((plain, 0.0, 5.0), (more, 1.0, markov))
        runs = [replace(one, users=UserGains(*(dict.fromkeys(range(3), x) for x in told))) for one, *told in given]
        difference = compare(runs).lines[1].difference
        assert (difference and difference.over) == over
        if difference:
            assert (difference.mean, difference.low, difference.high, difference.n) == (1, 1, 1, 1)


def test_a_seed_without_ranks_leaves_seeds_to_be_paired():
    """Two seeds of each row, and users of one of them: a difference over that seed alone would not be the table's."""
    users = UserGains({0: 1.0}, {0: 5.0})
    runs = [replace(run("a-0", 0, 0.5), users=users), run("a-1", 1, 0.6)]
    runs += [replace(run("p-0", 0, 0.7, "F", **PROX), users=users), run("p-1", 1, 0.9, "F", **PROX)]
    difference = compare(runs).lines[1].difference
    assert difference is not None
    assert (difference.over, difference.n) == ("seeds", 2)
    assert difference.mean == pytest.approx((0.2 + 0.3) / 2)


def test_one_seed_has_a_figure_but_no_difference():
    first, second = compare([run("a-0", 0, 0.5), run("p-0", 0, 0.7, "FedProx", **PROX)]).lines
    assert second.difference is None
    assert isnan(first.final.std)


def test_of_two_runs_of_one_seed_the_one_given_last_counts():
    (line,) = compare([run("old", 0, 0.1), run("new", 0, 0.9)]).lines
    assert list(line.runs) == ["new"]
    assert line.final.mean == 0.9


def test_runs_of_one_configuration_on_other_data_are_rows_of_their_own():
    given = [("a-0", 0, "first00"), ("a-1", 1, "first11"), ("b-0", 0, "second00"), ("b-1", 1, "second11")]
    runs = [replace(run(name, seed, 0.5), content=content) for name, seed, content in given]
    found = compare(runs).lines
    assert [list(line.runs) for line in found] == [["a-0", "a-1"], ["b-0", "b-1"]]
    assert [line.label for line in found] == ["FedAvg data first00", "FedAvg data second00"]


def test_data_that_differ_by_seed_are_one_row():
    runs = [replace(run(f"a-{seed}", seed, 0.5), content=f"drawn-{seed}") for seed in range(3)]
    (line,) = compare(runs).lines
    assert (line.label, list(line.seeds)) == ("FedAvg", [0, 1, 2])


def test_what_all_rows_share_and_what_each_has_of_its_own():
    found = compare([run("a-0", 0, 0.5), run("p-1", 1, 0.7, "FedProx", **PROX)])
    assert found.protocol == {"rounds": 3, "partition.alpha": 0.1, "partition.fingerprints": ["print-0", "print-1"]}
    assert [line.differs for line in found.lines] == [
        {"method.name": "fedavg"},
        {"method.name": "fedprox", "method.mu": 0.1},
    ]


def test_flat_keys_without_those_that_do_not_matter():
    assert flat_config(config()) == {"rounds": 3, "method.name": "fedavg", "partition.alpha": 0.1}


def test_as_a_document():
    document = compare([run("a-0", 0, 0.5), run("a-1", 1, 0.6), run("p-0", 0, 0.7, "FedProx", **PROX)]).to_json()
    assert document["against"] == "FedAvg"
    assert document["reductions"]["best"] == "checkpoint with the highest validation figure"
    assert [row["label"] for row in document["rows"]] == ["FedAvg", "FedProx"]
    assert document["rows"][0]["final"]["n"] == 2
    assert document["rows"][0]["runs"] == ["a-0", "a-1"]
    assert document["rows"][1]["difference"] is None
    json.dumps(document)


def test_the_document_of_nothing():
    assert Comparison([], {}).to_json()["against"] is None


def test_a_row_that_cannot_be_compared_is_marked_and_the_table_says_why():
    from equipoise.report.table import markdown, remarks

    runs = [run("a-0", 0, 0.5), run("b-0", 0, 0.7, "longer", rounds=6)]
    found = compare(runs)
    assert [list(line.marks) for line in found.lines] == [[], ["unequal-budget"]]
    assert found.to_json()["findings"][0]["rows"] == ["longer"]
    assert remarks(found)[0].startswith("ᵃ warning unequal-budget: 'longer' trains for 6 passes")
    assert "longer ᵃ" in markdown(found)


def test_a_table_without_fault_has_no_marks():
    found = compare([run("a-0", 0, 0.5), run("p-0", 0, 0.7, "FedProx", **PROX)])
    assert found.findings == []
    assert all(line.marks == [] for line in found.lines)


def test_bold_only_where_a_difference_is_outside_its_noise():
    """Three rows that differ by noise have no leader; two that cannot be told apart lead a third together."""
    values = {"a": (0.5, 0.7, 0.6), "b": (0.7, 0.5, 0.6), "c": (0.6, 0.65, 0.5)}
    noisy = [
        run(f"{name}{seed}", seed, each[seed], name, rounds=ord(name))
        for name, each in values.items()
        for seed in range(3)
    ]
    assert [line.leads for line in compare(noisy).lines] == [[], [], []]
    below = [run(f"d{seed}", seed, value, "d", rounds=9) for seed, value in enumerate((0.1, 0.12, 0.11))]
    assert [list(line.leads) for line in compare([*noisy, *below]).lines] == [["final", "best"]] * 3 + [[]]
    wild = [run(f"e{seed}", seed, value, "e", rounds=10) for seed, value in enumerate((0.05, 0.9, 0.2))]
    leads = [list(line.leads) for line in compare([*noisy, *below, *wild]).lines]
    assert leads == [["final", "best"]] * 3 + [[], []], "a row that is above nothing is not bold for its noise"


def test_bytes_of_a_row_are_the_mean_of_its_runs():
    first, second = (replace(run(f"a{seed}", seed, 0.5), up=100.0 * (seed + 1), down=8.0) for seed in (0, 1))
    (row,) = compare([first, second]).lines
    assert (row.up, row.down) == (150.0, 8.0)


def test_a_label_does_not_say_a_setting_twice():
    label = "method=fedavg rounds=4"
    runs = [run("a", 0, 0.5, label, rounds=4, lr=0.1), run("b", 0, 0.6, label, rounds=4, lr=0.2)]
    assert [line.label for line in compare(runs).lines] == [f"{label} lr=0.1", f"{label} lr=0.2"]
    runs = [run("a", 0, 0.5, label, rounds=4, lr=0.1), run("b", 0, 0.6, label, rounds=8, lr=0.1)]
    assert [line.label for line in compare(runs).lines] == [label, f"{label} rounds=8"]
