"""Pages of the gallery: the command, the table, what the diagnosis says, every picture, the report."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.website.stories import ALPHAS, Story

import equipoise as eq
from equipoise.core.errors import EquipoiseError

COVER = "cover.svg"
LANGUAGES = {"en": "English", "zh": "中文"}


class GalleryFailed(EquipoiseError):
    """A run of the gallery did not finish."""


def page_of_story(story: Story, store: Path, folder: Path) -> None:
    """Train what is not trained yet, and write `<name>.md` with its files in `<name>/`."""
    sweep = eq.sweep(
        story.preset, dict(story.settings), seeds=story.seeds, name=story.name, store=store, progress=False
    )
    if sweep.failed:
        first = sweep.failed[0]
        what = f"cell '{first['cell']}', seed {first['seed']}: {first['error']}"
        raise GalleryFailed(what, where=f"story {story.name}", fix="run its command by hand")
    files = folder / story.name
    text = [f"# {story.title}", story.says, f"```text\n{story.command}\n```", sweep.comparison.to_markdown()]
    text += [reports(story, sweep, files), "## Pictures", "Of one run of each row."]
    runs = firsts(sweep)
    for label, run in runs.items():
        text += [f"### {label}", told(eq.diagnose(run)), pictures(draw(run, files / slug(label)), folder)]
    cover(story, files, runs)
    (folder / f"{story.name}.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")


def cover(story: Story, files: Path, rows: Iterable[str]) -> None:
    """Copy the picture for the front page of the gallery, from the first row that has it."""
    found = [path for row in rows if (path := files / slug(row) / f"{story.cover}.svg").is_file()]
    if not found:
        had = ", ".join(sorted({path.stem for path in files.glob("*/*.svg")}))
        what = f"its runs have no figure '{story.cover}'"
        raise GalleryFailed(what, where=f"story {story.name}", fix=f"one of {had}")
    shutil.copyfile(found[0], files / COVER)


def firsts(sweep: eq.SweepHandle) -> dict[str, eq.RunHandle]:
    """One run of each row."""
    found: dict[str, eq.RunHandle] = {}
    for run, label in zip(sweep.runs, sweep.labels.values(), strict=True):
        found.setdefault(label, run)
    return found


def told(verdict: eq.Diagnosis) -> str:
    """The findings as a list."""
    lines = [f"* **{each.severity}** `{each.code}`: {plain(each.saw)}" for each in verdict.findings]
    return "\n".join(lines) or "The diagnosis finds nothing."


def plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


def draw(run: eq.RunHandle, folder: Path) -> list[Path]:
    """Every picture of the run, under the name of the figure."""
    written = eq.export([run], "svg", folder.parent, store=run.store)
    folder.mkdir()
    found = [path.rename(folder / path.name) for path in written]
    (folder.parent / run.id).rmdir()
    return found


def pictures(paths: Iterable[Path], folder: Path) -> str:
    """A grid of pictures; each leads to the picture alone. The page is beside the folder of its files."""
    shown = [
        f'<figure markdown="span">[![{path.stem}]({path.relative_to(folder).as_posix()}){{ loading=lazy }}]'
        f"({path.relative_to(folder).as_posix()})</figure>"
        for path in paths
    ]
    return '<div class="gallery" markdown>\n' + "\n".join(shown) + "\n</div>"


def reports(story: Story, sweep: eq.SweepHandle, files: Path) -> str:
    """The reports of all runs, and the first of them in the page."""
    files.mkdir()
    links = []
    for language in story.languages:
        page = files / f"report.{language}.html"
        eq.report(None, page, sweep=sweep.name, language=language, store=sweep.store)
        links.append(f"[{LANGUAGES[language]}]({story.name}/{page.name})")
    shown = f"{story.name}/report.{story.languages[0]}.html"
    frame = f'<iframe class="report" src="{shown}" title="The report" loading="lazy"></iframe>'
    return f"## The report\n\nOne file that needs no network: {', '.join(links)}.\n\n{frame}"


def page_of_partitions(folder: Path) -> None:
    """Who owns what, at several skews."""
    files = folder / "partitions"
    files.mkdir()
    paths = []
    for alpha in ALPHAS:
        view = eq.partition("fedavg", {"partition.alpha": alpha})
        paths.append(view.save(files / f"alpha-{alpha}.svg"))
    text = [
        "# Who owns what",
        "Five clients share the digits. The smaller α is, the fewer classes a client has. The partition has a "
        "fingerprint, and two runs with the same one had the same images on the same clients.",
        "```text\nequipoise partition fedavg partition.alpha=0.05 -o who.svg\n```",
        pictures(paths, folder),
    ]
    (folder / "partitions.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")


def contents(stories: Sequence[Story]) -> str:
    """The front page of the gallery: a picture of each story and what it shows."""
    shown = [card("partitions", "Who owns what", f"partitions/alpha-{ALPHAS[0]}.svg", "A partition at three skews.")]
    shown += [card(story.name, story.title, f"{story.name}/{COVER}", story.says) for story in stories]
    return (
        "# Gallery\n\nReports and pictures of real runs on embedded data. The build of this site trained them with the "
        "commands that their pages show; what is written about them is what the diagnosis said.\n\n"
        '<div class="gallery" markdown>\n\n' + "\n\n".join(shown) + "\n\n</div>\n"
    )


def card(name: str, title: str, picture: str, says: str) -> str:
    return f"<div markdown>\n\n[![{title}]({picture})]({name}.md)\n\n**[{title}]({name}.md)** {says}\n\n</div>"


def slug(label: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-") or "run"
