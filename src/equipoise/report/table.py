"""Formats a comparison as Markdown, LaTeX (booktabs) or CSV. Accuracies are in per cent; bytes are per run.

A value is bold if no row is clearly better and it is clearly better than some row. Clearly: the paired 95 % interval of
the difference excludes zero.
"""

from __future__ import annotations

import csv
import html
import io
import math
from typing import NamedTuple

from equipoise.diagnose.words import labels
from equipoise.report.bytes import bytes_text
from equipoise.report.comparison import Comparison, ComparisonRow
from equipoise.report.statistics import Difference, MeanStd

HEADER = {
    "configuration": "configuration",
    "n": "n",
    "final": "final",
    "best": "best by val.",
    "delta": "Δ to first [95 %]",
    "up": "up",
    "down": "down",
}
"""Columns by name, with their English headings."""
LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰ"


class TableCell(NamedTuple):
    text: str
    is_bold: bool


def per_cent(figure: MeanStd, plus_minus: str = "±") -> str:
    mean = f"{100 * figure.mean:.2f}"
    return mean if math.isnan(figure.std) else f"{mean} {plus_minus} {100 * figure.std:.2f}"


def interval(difference: Difference | None) -> str:
    if difference is None:
        return "–"
    mean, low, high = (100 * value for value in (difference.mean, difference.low, difference.high))
    return f"{mean:+.2f} [{low:+.1f}, {high:+.1f}]{' *' if difference.is_clear else ''}"


def columns(comparison: Comparison) -> list[str]:
    """The columns to show; a single row has no differences."""
    return [name for name in HEADER if name != "delta" or len(comparison.lines) > 1]


def rows(comparison: Comparison) -> list[list[TableCell]]:
    """The cells of `columns`."""
    return [_row(line, comparison) for line in comparison.lines]


def _row(line: ComparisonRow, comparison: Comparison) -> list[TableCell]:
    texts = {
        "configuration": line.label + signs_of(line, comparison),
        "n": str(line.final.n),
        "final": per_cent(line.final),
        "best": per_cent(line.best),
        "delta": interval(line.difference),
        "up": bytes_text(line.up),
        "down": bytes_text(line.down),
    }
    return [TableCell(texts[name], name in line.leads) for name in columns(comparison)]


def signs_of(line: ComparisonRow, comparison: Comparison) -> str:
    """Superscript letters of the row's findings, which are listed below the table."""
    codes = [finding.code for finding in comparison.findings]
    letters = "".join(LETTERS[codes.index(code)] for code in line.marks)
    return f" {letters}" if letters else ""


def remarks(comparison: Comparison, language: str = "en") -> list[str]:
    """The findings about the table, each with its letter."""
    return [
        f"{letter} {labels(language)[finding.severity]} {finding.code}: {finding.saw}"
        for letter, finding in zip(LETTERS, comparison.findings, strict=False)
    ]


def metrics(comparison: Comparison) -> str:
    """The metrics of the rows."""
    return ", ".join(dict.fromkeys(line.metric for line in comparison.lines))


def paired_over(comparison: Comparison) -> list[str]:
    """What differences are paired over: seeds, users, or both."""
    return sorted({line.difference.over for line in comparison.lines if line.difference}) or ["seeds"]


def markdown(comparison: Comparison) -> str:
    head = [HEADER[name] for name in columns(comparison)]
    body = [[f"**{cell.text}**" if cell.is_bold else _plain(cell.text) for cell in row] for row in rows(comparison)]
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *body)]
    return "\n".join([*lines, "", *map(_plain, _notes(comparison))])


def _plain(text: str) -> str:
    """Escapes text for a Markdown cell: no HTML, no cell separator, no line break."""
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


def latex(comparison: Comparison) -> str:
    names = columns(comparison)
    head = " & ".join(_escaped(HEADER[name]) for name in names)
    body = "\n".join(" & ".join(map(_latex_cell, row)) + r" \\" for row in rows(comparison))
    notes = "\n".join(f"% {note}" for note in _notes(comparison))
    top = rf"\begin{{tabular}}{{l{'r' * (len(names) - 1)}}}"
    lines = [top, r"\toprule", rf"{head} \\", r"\midrule", body, r"\bottomrule", r"\end{tabular}", notes]
    return "\n".join(lines)


def _latex_cell(cell: TableCell) -> str:
    text = _escaped(cell.text).replace("±", "$\\pm$").replace("–", "--")
    return f"\\textbf{{{text}}}" if cell.is_bold else text


def as_csv(comparison: Comparison) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    figures = (
        "final_mean",
        "final_std",
        "best_mean",
        "best_std",
        "difference_mean",
        "difference_low",
        "difference_high",
    )
    writer.writerow(["configuration", "metric", "seeds", *figures, "bytes_up", "bytes_down", "runs"])
    for line in comparison.lines:
        difference = line.difference
        paired = ["", "", ""] if difference is None else [difference.mean, difference.low, difference.high]
        numbers = [line.final.mean, line.final.std, line.best.mean, line.best.std, *paired]
        writer.writerow([line.label, line.metric, line.final.n, *numbers, line.up, line.down, " ".join(line.runs)])
    return out.getvalue().rstrip("\n")


def _escaped(text: str) -> str:
    greek = {"α": "alpha", "λ": "lambda", "μ": "mu", "Δ": "Delta"}
    special = {character: f"\\{character}" for character in "&%$#_{}"}
    special |= {letter: f"$\\{name}$" for letter, name in greek.items()}
    special |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(character, character) for character in text)


def _notes(comparison: Comparison) -> list[str]:
    """The protocol that all rows share, the settings in which rows differ, and the runs behind each row."""
    shared = comparison.protocol
    keys = (
        "data.name",
        "data.limit",
        "partition.name",
        "partition.alpha",
        "partition.clients",
        "communication",
        "rounds",
    )
    card = ", ".join(f"{key} {shared[key]}" for key in keys if shared.get(key) is not None)
    prints = ", ".join(str(value)[:12] for value in shared.get("partition.fingerprints", []))
    notes = [
        f"Protocol: {card}; partition fingerprints {prints}.",
        f"{metrics(comparison)} in per cent, mean ± sample deviation over n seeds; final = last checkpoint;"
        " best by val. = checkpoint with the highest validation figure; * = the 95 % interval of the difference, paired"
        f" over {' or '.join(paired_over(comparison))}, leaves out zero; bold = no row is clearly above it, and it"
        " is clearly above some row; up and down = all bytes of a run.",
    ]
    return [*notes, *remarks(comparison), *(_source(line) for line in comparison.lines)]


def _source(line: ComparisonRow) -> str:
    return f"{line.label}: {line.metric} of runs {', '.join(line.runs)}."
