"""What the site is made from: its pages, their navigation, and the versions beside each other."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from scripts.website.__main__ import html
from scripts.website.library import of_the_package
from scripts.website.navigation import navigation
from scripts.website.pages import ROOT, gather, relinked
from scripts.website.showcase import COVER, GalleryFailed, cover
from scripts.website.stories import STORIES
from scripts.website.versions import version_of, write_versions

import equipoise
from equipoise.core.errors import MissingExtra
from tests.docs.documents import DOCS


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    gather(ROOT, folder)
    return folder


def leaves(nav: object) -> list[str]:
    """The pages of a navigation."""
    if isinstance(nav, str):
        return [nav]
    inside = nav.values() if isinstance(nav, dict) else nav
    assert not isinstance(inside, (str, int))
    return [page for each in inside for page in leaves(each)]  # type: ignore[union-attr]


def test_every_page_of_docs_is_in_the_navigation_once(pages: Path) -> None:
    listed = leaves(navigation(pages))
    assert len(listed) == len(set(listed))
    renamed = {"index.md": "start.md", "tutorials/in-a-notebook.ipynb": "tutorials/in-a-notebook.md"}
    kept = [path.relative_to(DOCS).as_posix() for ending in ("*.md", "*.ipynb") for path in DOCS.rglob(ending)]
    assert {renamed.get(name, name) for name in kept} <= set(listed)
    assert {"index.md", "zh.md", "changes.md", "contributing.md", "license.md"} <= set(listed)


def test_links_between_files_become_links_between_pages() -> None:
    placed = {"README.md": "index.md", "docs/index.md": "start.md", "docs/howto/a.md": "howto/a.md"}
    assert (
        relinked("[a](docs/howto/a.md#b) [s](docs/index.md)", "README.md", placed) == "[a](howto/a.md#b) [s](start.md)"
    )
    assert relinked("[r](../../README.md)", "docs/howto/a.md", placed) == "[r](../index.md)"
    assert relinked("[w](https://example.org/docs/index.md) [p](#b)", "README.md", placed) == (
        "[w](https://example.org/docs/index.md) [p](#b)"
    )
    code = "```text\n[a](docs/howto/a.md)\n```"
    assert relinked(code, "README.md", placed) == code


def test_every_public_name_is_on_the_page_of_the_library() -> None:
    page = of_the_package()
    missing = [name for name in equipoise.__all__ if f"eq.{name}" not in page and not name.startswith("__")]
    assert missing == []


@pytest.mark.parametrize(
    ("changelog", "version"),
    [
        ("## Unreleased\n\n### Added\n* new\n\n## 0.2.0\n\n### Added\n* old\n", "dev"),
        ("## Unreleased\n\n### Added\n\n### Numbers\n\n## 0.2.0 · 2026-01-01\n\n* old\n\n## 0.1.0\n* first\n", "0.2.0"),
        ("## Unreleased\n", "dev"),
    ],
)
def test_the_version_is_that_of_the_changelog(changelog: str, version: str) -> None:
    assert version_of(changelog) == version


def test_the_newest_release_is_the_latest_whatever_was_built_last(tmp_path: Path) -> None:
    for name in ("0.9.0", "0.10.0", "dev", "not-a-version"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("x", encoding="utf-8")
    write_versions(tmp_path)
    versions = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert [(each["version"], each["aliases"]) for each in versions] == [
        ("dev", []), ("0.10.0", ["latest"]), ("0.9.0", []),
    ]  # fmt: skip
    assert 'url=0.10.0/index.html"' in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_the_commands_of_the_gallery_are_those_of_its_runs() -> None:
    for story in STORIES:
        words = story.command.split()
        assert words[:3] == ["equipoise", "sweep", story.preset]
        assert [word.split("=")[0] for word in words if "=" in word] == list(story.settings)


def test_the_cover_of_a_story_is_a_figure_of_its_first_row_that_has_it(tmp_path: Path) -> None:
    story = STORIES[0]
    for row, figure in (("b", story.cover), ("c", story.cover), ("a", "losses")):
        (tmp_path / row).mkdir()
        (tmp_path / row / f"{figure}.svg").write_text(f"{row} {figure}", encoding="utf-8")
    cover(story, tmp_path, ["a", "c", "b"])
    assert (tmp_path / COVER).read_text(encoding="utf-8") == f"c {story.cover}"
    with pytest.raises(GalleryFailed, match=f"no figure '{story.cover}'") as caught:
        cover(story, tmp_path, ["a"])
    assert "losses" in caught.value.fix


def test_without_the_packages_of_the_site_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mkdocs.commands.build", None)
    with pytest.raises(MissingExtra) as caught:
        html(tmp_path, tmp_path)
    assert "equipoise[docs]" in caught.value.fix
