"""Which values the diagram ranks, what it leaves out, and when there is none."""

from __future__ import annotations

from equipoise.report.draw import draw
from equipoise.report.figure import RankChart
from equipoise.report.figure_table import markdown_of
from equipoise.report.figures.critical_difference import critical_difference, ranked
from equipoise.report.methods import SweepRow
from equipoise.report.words import words
from tests.unit.report.sweeps import rows_of, run_of

SAY = words("en")
SEEDS = range(6)
METHODS = [(name, {"method": {"name": name}}) for name in ("a", "b", "c")]


def rows() -> list[SweepRow]:
    return rows_of(*METHODS, seeds=SEEDS)


def finals(lead: float = 0.1) -> dict[str, float]:
    """Method a is above b and b above c on every seed."""
    return {f"{name}/{seed}": 0.5 - i * lead + seed / 100 for i, (name, _) in enumerate(METHODS) for seed in SEEDS}


def chart() -> RankChart:
    found, left = ranked(rows(), finals(), SAY)
    assert found is not None
    return critical_difference(found, left, {"a": 0, "b": 1, "c": 2}, SAY)


def test_methods_are_ranked_seed_by_seed() -> None:
    figure = chart()
    assert dict(figure.ranks) == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert figure.groups == [["a", "b"], ["b", "c"]]  # CD = 2.343·√(3·4/(6·6)) = 1.35
    assert "3 methods, 6 blocks of setting × seed: Friedman χ² = 12.00, p = 0.0025; Nemenyi CD = 1.35" in figure.note
    assert "separates no pair" in figure.note, "3 · 2/64 is not below 5 %"


def test_a_seed_that_one_method_lacks_is_no_block() -> None:
    held = finals()
    del held["b/3"]
    found, why = ranked(rows(), held, SAY)
    assert found is None
    assert why.startswith("No critical-difference diagram: only 5 combinations")


def test_two_methods_have_no_diagram_but_a_reason() -> None:
    found, why = ranked(rows()[:2], finals(), SAY)
    assert found is None
    assert "2 methods share a metric" in why


def test_methods_with_another_metric_or_without_a_scored_run_are_left_out_by_name() -> None:
    other = SweepRow("d", "d", "", [run_of(f"d/{seed}", seed, headline="accuracy/clients") for seed in SEEDS])
    never = SweepRow("e", "e", "", [run_of(f"e/{seed}", seed, status="failed") for seed in SEEDS])
    found, left = ranked([*rows(), other, never], finals() | {f"d/{seed}": 0.9 for seed in SEEDS}, SAY)
    assert found is not None
    assert list(found.ranks) == ["a", "b", "c"]
    assert left == "Left out, with another metric or not scored: d, e."


def test_settings_are_blocks_too() -> None:
    low, high = ({"name": "dirichlet", "alpha": alpha} for alpha in (0.1, 0.5))
    both = rows_of(
        *((f"{name} {at}", {"method": {"name": name}, "partition": part})
          for name, _ in METHODS for at, part in (("low", low), ("high", high))),
        seeds=range(3),
    )  # fmt: skip
    values = {run.run_id: 0.9 - ord(row.method) / 1000 for row in both for run in row.runs}
    found, _ = ranked(both, values, SAY)
    assert found is not None
    assert (found.n_blocks, list(found.ranks)) == (6, ["a", "b", "c"])


def test_the_chart_has_a_point_per_method_a_bar_per_group_and_the_critical_difference() -> None:
    spec = draw(chart(), SAY).to_dict()
    data = [row for rows in spec["datasets"].values() for row in rows]
    assert {row["row"]: row["rank"] for row in data if "text" in row} == {"a": 1.0, "b": 2.0, "c": 3.0}
    spans = {row["row"]: (row["rank"], round(row["end"], 2)) for row in data if "end" in row}
    assert spans == {"not apart 1": (1.0, 2.0), "not apart 2": (2.0, 3.0), "CD 1.35": (1.0, 2.35)}


def test_in_markdown_methods_share_the_letter_of_their_group() -> None:
    text = markdown_of(chart(), SAY)
    assert "| a | 1.00 | a |" in text
    assert "| b | 2.00 | ab |" in text
    assert "| c | 3.00 | b |" in text
