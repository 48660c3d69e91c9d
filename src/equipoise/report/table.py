"""A comparison as text: Markdown, LaTeX (booktabs) or CSV. Accuracies in per cent, best bold, second underlined."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence

from equipoise.diagnose.words import LABELS
from equipoise.report.comparison import Comparison, Line
from equipoise.report.statistics import Difference, Figure

HEADER = ("configuration", "n", "final", "best by val.", "Δ to first [95 %]")
LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰ"
Mark = Callable[[str, int], str]
"""(text, rank among the rows: 0 best, 1 second, …) → marked text"""


def per_cent(figure: Figure, plus_minus: str = "±") -> str:
    mean = f"{100 * figure.mean:.2f}"
    return mean if math.isnan(figure.std) else f"{mean} {plus_minus} {100 * figure.std:.2f}"


def interval(difference: Difference | None) -> str:
    if difference is None:
        return "–"
    mean, low, high = (100 * value for value in (difference.mean, difference.low, difference.high))
    return f"{mean:+.2f} [{low:+.1f}, {high:+.1f}]{' *' if difference.is_clear else ''}"


def rows(comparison: Comparison, mark: Mark = lambda text, rank: text) -> list[list[str]]:
    finals, bests = (_ranks([getattr(line, name).mean for line in comparison.lines]) for name in ("final", "best"))
    return [
        [
            line.label + signs_of(line, comparison),
            str(line.final.n),
            mark(per_cent(line.final), finals[i]),
            mark(per_cent(line.best), bests[i]),
            interval(line.difference),
        ]
        for i, line in enumerate(comparison.lines)
    ]


def signs_of(line: Line, comparison: Comparison) -> str:
    """Superscript letters of the findings that concern the row, as they are listed below the table."""
    codes = [finding.code for finding in comparison.findings]
    letters = "".join(LETTERS[codes.index(code)] for code in line.marks)
    return f" {letters}" if letters else ""


def remarks(comparison: Comparison, language: str = "en") -> list[str]:
    """The findings of the table, each under its letter."""
    return [
        f"{letter} {LABELS[language][finding.severity]} {finding.code}: {finding.saw}"
        for letter, finding in zip(LETTERS, comparison.findings, strict=False)
    ]


def metrics(comparison: Comparison) -> str:
    """What the rows are figures of."""
    return ", ".join(dict.fromkeys(line.metric for line in comparison.lines))


def paired_over(comparison: Comparison) -> list[str]:
    """What differences have their intervals over: seeds, users, or some the one and some the other."""
    return sorted({line.difference.over for line in comparison.lines if line.difference}) or ["seeds"]


def _ranks(means: Sequence[float]) -> list[int]:
    return [sum(other > mean for other in means) for mean in means]


def markdown(comparison: Comparison) -> str:
    def mark(text: str, rank: int) -> str:
        return {0: f"**{text}**", 1: f"<u>{text}</u>"}.get(rank, text)

    body = [HEADER, ("---",) * len(HEADER), *rows(comparison, mark)]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in body]
    return "\n".join([*lines, "", *_notes(comparison)])


def latex(comparison: Comparison) -> str:
    def mark(text: str, rank: int) -> str:
        return {0: f"\\textbf{{{text}}}", 1: f"\\underline{{{text}}}"}.get(rank, text)

    table = [
        [_escaped(row[0]), row[1], *(cell.replace("±", "$\\pm$") for cell in row[2:])] for row in rows(comparison, mark)
    ]
    head = " & ".join(_escaped(name) for name in HEADER)
    body = "\n".join(" & ".join(row).replace("–", "--") + r" \\" for row in table)
    notes = "\n".join(f"% {note}" for note in _notes(comparison))
    top = r"\begin{tabular}{lrrrr}"
    lines = [top, r"\toprule", rf"{head} \\", r"\midrule", body, r"\bottomrule", r"\end{tabular}", notes]
    return "\n".join(lines)


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
    writer.writerow(["configuration", "metric", "seeds", *figures, "runs"])
    for line in comparison.lines:
        difference = line.difference
        paired = ["", "", ""] if difference is None else [difference.mean, difference.low, difference.high]
        numbers = [line.final.mean, line.final.std, line.best.mean, line.best.std, *paired]
        writer.writerow([line.label, line.metric, line.final.n, *numbers, " ".join(line.runs)])
    return out.getvalue().rstrip("\n")


def _escaped(text: str) -> str:
    greek = {"α": "alpha", "λ": "lambda", "μ": "mu", "Δ": "Delta"}
    special = {character: f"\\{character}" for character in "&%$#_{}"}
    special |= {letter: f"$\\{name}$" for letter, name in greek.items()}
    special |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(character, character) for character in text)


def _notes(comparison: Comparison) -> list[str]:
    """The protocol every row shares, what rows differ in, and which runs stand behind each row."""
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
        f" over {' or '.join(paired_over(comparison))}, leaves out zero.",
    ]
    return [*notes, *remarks(comparison), *(_source(line) for line in comparison.lines)]


def _source(line: Line) -> str:
    return f"{line.label}: {line.metric} of runs {', '.join(line.runs)}."
