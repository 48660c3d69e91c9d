"""HTML for notebooks: runs, tables, verdicts and partitions, with every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from equipoise.api.compare import ComparisonTable
    from equipoise.api.diagnose import Diagnosis
    from equipoise.api.partition import PartitionView
    from equipoise.api.sweep import SweepHandle
    from equipoise.diagnose.finding import Finding

SHOWN_METRICS = 20
COLOURS = {"error": "#b3261e", "warning": "#8a5a00", "note": "#2b5f8a"}
MOST_CLASSES, MOST_CLIENTS = 20, 40
"""Larger partitions are shown without a table."""
BLUE = "36, 116, 176"


def run_card(document: Mapping[str, Any]) -> str:
    """A run: status, headline, final metrics, findings. `document` is the output of `show --json`."""
    name, metrics = document["headline"], document["metrics"]
    value = f"{name} {100 * metrics[name]:.2f} %" if name in metrics else "nothing was scored yet"
    head = Markup("<b>{}</b> {}<br>{}").format(document["run_id"], document["status"], value)
    error = Markup("<pre>{}</pre>").format(document["error"]) if document["error"] else ""
    shown = [(key, f"{metrics[key]:.4g}") for key in list(metrics)[:SHOWN_METRICS]]
    more = f"and {len(metrics) - len(shown)} more: run.metrics()" if len(metrics) > len(shown) else ""
    found = [Markup("{}: {}").format(each["code"], each["saw"]) for each in document["findings"]]
    folded = Markup("<details><summary>metrics</summary>{}{}</details>").format(table(("metric", "value"), shown), more)
    return str(_block(head, error, folded, _listed(found)))


def finding_card(finding: Finding, label: Mapping[str, str]) -> Markup:
    line = Markup("<p><b style='color:{}'>{}</b> <b>{}</b><br>{}<br><i>{}:</i> {}<br><i>{}:</i> {}{}</p>")
    override = Markup("<br><code>{}</code>").format(finding.override) if finding.override else ""
    return line.format(
        COLOURS[finding.severity], label[finding.severity], finding.code, finding.saw,
        label["why"], finding.cause, label["try"], finding.remedy, override,
    )  # fmt: skip


def diagnosis_card(diagnosis: Diagnosis) -> str:
    from equipoise.diagnose.words import labels

    label, n = labels(diagnosis.language), len(diagnosis.findings)
    head = Markup("<b>{}</b> {}").format(diagnosis.name, label["found"].format(n=n) if n else label["nothing"])
    found = Markup("").join(finding_card(each, label) for each in diagnosis.findings)
    rest = [
        label[key].format(codes=", ".join(codes) or label["none"])
        for key, codes in (("passed", diagnosis.passed), ("skipped", diagnosis.not_examined))
    ]
    lines = Markup("").join(Markup("<div><small>{}</small></div>").format(line) for line in [*diagnosis.repairs, *rest])
    return str(_block(head, found, lines))


def comparison_card(compared: ComparisonTable) -> str:
    from equipoise.report import table as text
    from equipoise.report.layout import results

    found = results(compared.comparison)
    names = [text.HEADER.get(name, name) for name in found.columns]
    cells = [
        [Markup("<b>{}</b>").format(cell.text) if cell.is_bold else cell.text for cell in row] for row in found.rows
    ]
    note = f"{text.metrics(compared.comparison)} in per cent; * the 95 % interval leaves out zero"
    below = [*text.remarks(compared.comparison), note]
    lines = Markup("").join(Markup("<div><small>{}</small></div>").format(line) for line in below)
    return str(_block(table(names, cells), lines))


def sweep_card(sweep: SweepHandle) -> str:
    head = Markup("<b>{}</b> {} of {} runs done").format(sweep.name, len(sweep.labels), len(sweep.places))
    failed = [Markup("{}, seed {}: {}").format(*each.values()) for each in sweep.failed]
    table = Markup(comparison_card(sweep.comparison)) if sweep.labels else ""
    return str(_block(head, table, _listed(failed)))


def partition_card(view: PartitionView) -> str:
    head = Markup("<b>{}</b> {} clients, {} samples").format(view.name, view.n_clients, round(view.skew["samples"]))
    facts = table(("", ""), view.facts().items())
    n_clients, n_classes = view.counts.shape
    if n_clients > MOST_CLIENTS or n_classes > MOST_CLASSES:
        return str(_block(head, facts))
    most = max(1, int(view.counts.max()))
    rows = [
        [str(client), *(_shaded(int(n), most) for n in row), str(row.sum())] for client, row in enumerate(view.counts)
    ]
    return str(_block(head, table(("client", *view.classes, "total"), rows), facts))


def _shaded(count: int, most: int) -> Markup:
    share = (count / most) ** 0.5
    cell = Markup("<div style='background:rgba({},{:.2f});text-align:right;padding:0 .3em'>{}</div>")
    return cell.format(BLUE, 0.7 * share, count or "·")


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """An HTML table; Markup cells are kept as they are, all others are escaped."""
    head = Markup("").join(Markup("<th style='text-align:left'>{}</th>").format(title) for title in titles)
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row))
        for row in rows
    )
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)


def _listed(items: Sequence[Markup]) -> Markup:
    inner = Markup("").join(Markup("<li>{}</li>").format(item) for item in items)
    return Markup("<ul>{}</ul>").format(inner) if items else Markup("")


def _block(*parts: Markup | str) -> Markup:
    return Markup("<div>{}</div>").format(Markup("").join(parts))
