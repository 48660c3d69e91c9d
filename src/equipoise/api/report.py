"""Writes a report of runs as one file: a sentence to quote, results, three pictures; the rest is folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from equipoise.api.choose import AnyRun, chosen_runs, named
from equipoise.api.place import StoreAt, existing
from equipoise.core.errors import ConfigError

Page = Literal["html", "md"]
ENDINGS: dict[str, Page] = {".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", "": "html"}


def quietly(what: str) -> AbstractContextManager[None]:
    return nullcontext()


def report(
    runs: AnyRun | Iterable[AnyRun] | None = None,
    path: str | Path = "report.html",
    *,
    sweep: str | None = None,
    form: Page | None = None,
    language: str = "en",
    projection: Literal["pca", "tsne"] = "pca",
    store: StoreAt = None,
) -> Path:
    """Write a report of runs to one self-contained file.

    Runs that differ only in their seed share a row and a section; its figures are of the worst of these runs. Runs of
    one sweep with several rows are compared by method instead.

    Args:
        runs: runs or their ids.
        path: the file to write, .html or .md.
        sweep: all finished runs of this sweep, under its labels.
        form: "html" or "md", if the file's extension does not determine it.
        language: "en" or "zh".
        projection: how features are projected onto a plane.

    Returns:
        The file.
    """
    how = ReportForm(form, language, projection)
    return write_report(runs, Path(path), sweep, how, store)


@dataclass(frozen=True)
class ReportForm:
    """How a report is written."""

    form: Page | None = None
    language: str = "en"
    projection: Literal["pca", "tsne"] = "pca"
    working: Callable[[str], AbstractContextManager[None]] = quietly
    """Shows the current activity while it lasts."""


def write_report(
    runs: AnyRun | Iterable[AnyRun] | None, output: Path, sweep: str | None, how: ReportForm, store: StoreAt
) -> Path:
    from equipoise.report.files import write_text
    from equipoise.report.gather import gather

    page = how.form or page_of(output)
    ids, place = named(runs, store)
    with existing(place) as opened:
        chosen = chosen_runs(opened, ids, sweep)
        with how.working(f"reading {len(chosen.runs)} runs"):
            gathered = gather(opened, chosen.runs, chosen.labels, how.language, how.projection)
    if page == "md":
        from equipoise.report.markdown import markdown

        text = markdown(gathered)
    else:
        from equipoise.report.html import html

        with how.working("drawing"):
            text = html(gathered)
    write_text(output, text)
    return output


def page_of(output: Path) -> Page:
    """The format by the file's extension; HTML if it is unknown."""
    ending = output.suffix.lower()
    if ending not in ENDINGS:
        fix = "-o report.html or report.md; pictures and tables as files: `equipoise export RUN --to pdf`"
        raise ConfigError(
            f"a report is a page in HTML or Markdown, and '{output.name}' is neither", where="-o", fix=fix
        )
    return ENDINGS[ending]
