"""The rows of a sweep as methods under settings."""

from __future__ import annotations

from equipoise.report.methods import by_line, sweep_rows
from tests.unit.report.sweeps import rows_of, run_of

LOW, HIGH = ({"name": "dirichlet", "alpha": alpha} for alpha in (0.05, 0.5))
AVG, PROX = {"name": "fedavg"}, {"name": "fedprox", "mu": 0.1}


def named(*rows: tuple[str, dict[str, object]]) -> list[tuple[str, str]]:
    return [(row.method, row.setting) for row in rows_of(*rows)]


def test_a_row_is_a_method_at_a_setting_named_by_the_words_of_its_label() -> None:
    assert named(
        ("FedAvg partition.alpha=0.05", {"method": AVG, "partition": LOW}),
        ("FedAvg partition.alpha=0.5", {"method": AVG, "partition": HIGH}),
        ("Fed Prox partition.alpha=0.05", {"method": PROX, "partition": LOW}),
        ("Fed Prox partition.alpha=0.5", {"method": PROX, "partition": HIGH}),
    ) == [
        ("FedAvg", "partition.alpha=0.05"),
        ("FedAvg", "partition.alpha=0.5"),
        ("Fed Prox", "partition.alpha=0.05"),
        ("Fed Prox", "partition.alpha=0.5"),
    ]


def test_rows_that_face_the_same_are_methods_under_their_whole_label() -> None:
    assert named(("A, guarded", {"method": AVG}), ("A", {"method": PROX})) == [("A, guarded", ""), ("A", "")]


def test_remarks_are_left_to_the_table_unless_rows_would_have_the_same_name() -> None:
    runs = {"A (healed: lr-cut)": [run_of("a", cell="A", method=AVG)], "B": [run_of("b", cell="B", method=PROX)]}
    assert [row.method for row in sweep_rows(runs, {})] == ["A", "B"]
    assert [row.method for row in sweep_rows(runs, {"a": "B"})] == ["A (healed: lr-cut)", "B"]


def test_labels_that_say_nothing_are_replaced_by_the_settings_that_differ() -> None:
    rows = [
        (label, {"method": method, "partition": part})
        for label, method, part in (("w", AVG, LOW), ("x", AVG, HIGH), ("y", PROX, LOW), ("z", PROX, HIGH))
    ]
    assert named(*rows) == [
        ("method=fedavg", "partition.alpha=0.05"),
        ("method=fedavg", "partition.alpha=0.5"),
        ("method=fedprox method.mu=0.1", "partition.alpha=0.05"),
        ("method=fedprox method.mu=0.1", "partition.alpha=0.5"),
    ]


def test_a_single_method_is_drawn_setting_by_setting() -> None:
    rows = rows_of(("alpha=0.05", {"partition": LOW}), ("alpha=0.5", {"partition": HIGH}))
    assert [(row.method, row.setting) for row in rows] == [("fedavg", "alpha=0.05"), ("fedavg", "alpha=0.5")]
    assert [(line.method, line.setting) for line in by_line(rows)] == [("alpha=0.05", ""), ("alpha=0.5", "")]


def test_several_methods_are_drawn_as_they_are() -> None:
    rows = rows_of(("A", {"method": AVG}), ("B", {"method": PROX}))
    assert by_line(rows) == rows


def test_remarks_in_a_label_do_not_split_a_method() -> None:
    """A guard healed runs of one setting only, and the label of that row says so."""
    groups = {
        "A low (healed: lr-cut)": [run_of("a", cell="A low", partition=LOW)],
        "A high": [run_of("b", cell="A high", partition=HIGH)],
        "B low": [run_of("c", cell="B low", method=PROX, partition=LOW)],
        "B high": [run_of("d", cell="B high", method=PROX, partition=HIGH)],
    }
    assert [row.method for row in sweep_rows(groups, {})] == ["A", "A", "B", "B"]
