from __future__ import annotations

import pytest

from equipoise.cli.compare import print_comparison
from equipoise.report.comparison import Comparison, ComparisonRow
from equipoise.report.statistics import Difference, MeanStd

FIGURE = MeanStd(0.3305, 0.0662, 3)


def line(label: str, difference: Difference | None = None) -> ComparisonRow:
    return ComparisonRow(label, "accuracy/merged", ["a"], [0], FIGURE, FIGURE, difference, {}, 5_650_000, 296_000)


TABLE = Comparison([line("FedAvg"), line("decoupled-hinge", Difference(0.5562, 0.116, 0.996, 3))], {})


@pytest.mark.parametrize(("columns", "missing"), [(120, []), (80, ["down"]), (70, ["down", "best by val."])])
def test_no_label_is_cut_and_no_cell_folded(columns: int, missing: list[str], monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    print_comparison(TABLE)
    head, first, second, *rest = capsys.readouterr().out.splitlines()
    assert max(map(len, (head, first, second))) <= columns
    assert second.startswith("decoupled-hinge 3 33.05 ± 6.62 ")
    assert "+55.62 [+11.6, +99.6] *" in second
    assert not [name for name in missing if name in head]
    said = [text for text in rest if text.startswith("left out for want of room: ")]
    assert len(said) == bool(missing)
