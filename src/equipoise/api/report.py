"""A report of runs as one file: results first, then findings, protocol and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
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
    working: Callable[[str], AbstractContextManager[None]] = quietly,
) -> Path:
    """Write a report of runs to one file that needs nothing else.

    Runs that differ only in their seed share a row and a section; its pictures are of the run that fared worst.

    Args:
        runs: runs or their ids.
        path: the file to write, .html or .md.
        sweep: all finished runs of this sweep, under its labels.
        form: "html" or "md", where the ending of the file does not say it.
        language: "en" or "zh".
        projection: how features are brought onto a plane.
        working: shows what is being done, for as long as it takes.
    """
    from equipoise.report.files import write_text
    from equipoise.report.gather import gather

    output = Path(path)
    page = form or page_of(output)
    ids, place = named(runs, store)
    with existing(place) as opened:
        chosen = chosen_runs(opened, ids, sweep)
        with working(f"reading {len(chosen.runs)} runs"):
            gathered = gather(opened, chosen.runs, chosen.labels, language, projection)
    if page == "md":
        from equipoise.report.markdown import markdown

        text = markdown(gathered)
    else:
        from equipoise.report.html import html

        with working("drawing"):
            text = html(gathered)
    write_text(output, text)
    return output


def page_of(output: Path) -> Page:
    """What the ending of the file says; one that says nothing is HTML."""
    ending = output.suffix.lower()
    if ending not in ENDINGS:
        fix = "-o report.html or report.md; pictures and tables as files: `equipoise export RUN --to pdf`"
        raise ConfigError(
            f"a report is a page in HTML or Markdown, and '{output.name}' is neither", where="-o", fix=fix
        )
    return ENDINGS[ending]
