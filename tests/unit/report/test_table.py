from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

import pytest

from equipoise.report.comparison import Comparison, ComparisonRow
from equipoise.report.statistics import Difference, MeanStd
from equipoise.report.table import HEADER, as_csv, interval, latex, markdown, per_cent, rows


def line(label: str, final: float, best: float, difference: Difference | None = None, n: int = 3) -> ComparisonRow:
    std = 0.0125 if n > 1 else math.nan
    runs = [f"{label[:1]}-{seed}" for seed in range(n)]
    figures = MeanStd(final, std, n), MeanStd(best, std, n)
    return ComparisonRow(label, "accuracy/merged", runs, list(range(n)), *figures, difference, {}, 2_500_000, 512)


PROTOCOL = {
    "data.name": "digits",
    "data.limit": None,
    "partition.alpha": 0.05,
    "rounds": 10,
    "partition.fingerprints": ["0123456789abcdef", "fedcba9876543210"],
}
COMPARISON = Comparison(
    [
        replace(line("FedAvg & co_50%", 0.5, 0.75), leads=["best"]),
        replace(line("a|b {α}", 0.7, 0.6, Difference(0.2, 0.15, 0.25, 3)), leads=["final"]),
        line("third ~^\\#$", 0.6, 0.5, Difference(0.1, -0.1, 0.3, 3)),
        line("alone", 0.1, 0.1, None, n=1),
    ],
    PROTOCOL,
)


def test_figures_in_per_cent():
    assert per_cent(MeanStd(0.61234, 0.01, 3)) == "61.23 ± 1.00"
    assert per_cent(MeanStd(0.5, math.nan, 1)) == "50.00"
    assert per_cent(MeanStd(0.5, 0.1, 2), "+-") == "50.00 +- 10.00"


def test_differences_with_their_interval_and_a_star_when_clear():
    assert interval(Difference(0.2, 0.15, 0.25, 3)) == "+20.00 [+15.0, +25.0] *"
    assert interval(Difference(-0.1, -0.3, 0.1, 3)) == "-10.00 [-30.0, +10.0]"
    assert interval(None) == "–"


def test_bold_is_what_leads_its_column():
    leading = replace(line("a", 0.5, 0.5), leads=["final"])
    marked = rows(Comparison([leading, line("b", 0.6, 0.6)], {}))
    assert [[cell.is_bold for cell in row[2:4]] for row in marked] == [[True, False], [False, False]]


def test_markdown_is_a_table_with_what_leads_in_bold():
    lines = markdown(COMPARISON).splitlines()
    assert lines[0] == "| " + " | ".join(HEADER.values()) + " |"
    assert set(lines[1]) <= set("|- ")
    assert lines[2] == "| FedAvg &amp; co_50% | 3 | 50.00 ± 1.25 | **75.00 ± 1.25** | – | 2.5 MB | 512 B |"
    cells = "**70.00 ± 1.25** | 60.00 ± 1.25 | +20.00 [+15.0, +25.0] *"
    assert lines[3] == f"| a\\|b {{α}} | 3 | {cells} | 2.5 MB | 512 B |"
    assert lines[5] == "| alone | 1 | 10.00 | 10.00 | – | 2.5 MB | 512 B |"
    assert all(text.count("|") - text.count("\\|") == len(HEADER) + 1 for text in lines[:6])


def test_html_in_a_label_is_escaped_in_markdown():
    text = markdown(Comparison([line("<img src=x onerror=alert(1)>\n| b", 0.5, 0.5), line("c", 0.5, 0.5)], {}))
    assert "<img" not in text
    assert text.splitlines()[2].startswith("| &lt;img src=x onerror=alert(1)&gt; \\| b | 3 |")


def test_a_single_row_has_no_column_of_differences():
    table = markdown(Comparison([line("alone", 0.5, 0.5)], {})).splitlines()[0]
    assert "Δ" not in table
    assert "Δ" in markdown(COMPARISON).splitlines()[0]


@pytest.mark.parametrize("write", [markdown, latex])
def test_a_table_says_its_protocol_and_which_runs_stand_behind_each_row(write):
    text = write(COMPARISON)
    assert "data.name digits, partition.alpha 0.05, rounds 10" in text
    assert "data.limit" not in text
    assert "0123456789ab, fedcba987654" in text
    assert "alone: accuracy/merged of runs a-0." in text


def test_latex_has_booktabs_and_escapes():
    text = latex(COMPARISON)
    lines = text.splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrrrr}"
    assert [rule in lines for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}")] == [True] * 4
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert body[0] == r"FedAvg \& co\_50\% & 3 & 50.00 $\pm$ 1.25 & \textbf{75.00 $\pm$ 1.25} & -- & 2.5 MB & 512 B \\"
    assert body[1].startswith(r"a|b \{$\alpha$\} & 3 & \textbf{70.00 $\pm$ 1.25} & 60.00 $\pm$ 1.25 &")
    assert body[2].startswith(r"third \textasciitilde{}\textasciicircum{}\textbackslash{}\#\$ &")
    assert all(row.replace(r"\&", "").count("&") == len(HEADER) - 1 for row in body)
    assert "±" not in text[: text.index(r"\end{tabular}")]
    header = lines[2]
    assert header.count("&") == len(HEADER) - 1
    assert "%" not in header.replace(r"\%", "")
    after = lines[lines.index(r"\end{tabular}") + 1 :]
    assert after
    assert all(note.startswith("% ") for note in after)


def test_csv_is_read_back():
    found = list(csv.DictReader(io.StringIO(as_csv(COMPARISON))))
    assert [row["configuration"] for row in found] == [one.label for one in COMPARISON.lines]
    first, second = found[:2]
    assert (float(first["final_mean"]), float(first["best_mean"]), int(first["seeds"])) == (0.5, 0.75, 3)
    assert first["difference_mean"] == ""
    assert [float(second[f"difference_{part}"]) for part in ("mean", "low", "high")] == [0.2, 0.15, 0.25]
    assert (float(first["bytes_up"]), float(first["bytes_down"])) == (2_500_000, 512)
    assert second["runs"].split() == ["a-0", "a-1", "a-2"]
    assert math.isnan(float(found[3]["final_std"]))


def test_csv_keeps_commas_quotes_and_lines_of_a_label():
    odd = 'a, "b"\nc'
    (row,) = csv.DictReader(io.StringIO(as_csv(Comparison([line(odd, 0.5, 0.5)], {}))))
    assert row["configuration"] == odd
