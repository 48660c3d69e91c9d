"""Links lead somewhere, the map is true, both READMEs say the same, and nothing is too long."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from equipoise import __version__
from equipoise.config.loader import PRESETS
from tests.docs.documents import (
    DOCS,
    DOCUMENTS,
    README,
    README_ZH,
    ROOT,
    blocks,
    links,
    name_of,
    prose,
    read,
    slug,
    tables,
)

TUTORIAL = "why-did-it-fail.md"
"""Its blocks are run by a test of its own, which compares what they print."""
PRESET_FILES = sorted(PRESETS.rglob("*.yaml"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    for target in links(document):
        file, _, place = target.partition("#")
        path = (document.parent / file).resolve() if file else document
        assert path.exists(), f"{target} does not exist"
        if place:
            headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
            assert place in [slug(heading) for heading in headings], f"no heading for {target}"


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if path.name != TUTORIAL], ids=name_of)
def test_no_shell_block_escapes_being_run(document: Path) -> None:
    """`sh` is run and `text` says that it is not; any other name for a shell would be neither."""
    assert not {block.language for block in blocks(document)} & {"bash", "shell", "console", "zsh"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_no_page_names_a_path_of_one_machine(document: Path) -> None:
    assert not re.findall(r"(?<![\w.])/(?:work|tmp|root|home)/", read(document))


@pytest.mark.parametrize("document", sorted(DOCS.rglob("*.md")), ids=name_of)
def test_every_page_can_be_reached_from_the_index(document: Path) -> None:
    reached = {(DOCS / target.split("#")[0]).resolve() for target in links(DOCS / "index.md")}
    assert document in {*reached, DOCS / "index.md"}


def test_every_path_in_the_map_exists() -> None:
    paths = re.findall(r"`([\w.-]+(?:/[\w.-]*)*)`", read(DOCS / "map.md"))
    assert len(paths) > 50
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert not missing


def test_every_room_is_in_the_map() -> None:
    rooms = {f"src/equipoise/{path.parent.name}/" for path in (ROOT / "src" / "equipoise").glob("*/__init__.py")}
    assert rooms <= set(re.findall(r"`([^`]+)`", read(DOCS / "map.md")))


@pytest.mark.parametrize("preset", PRESET_FILES, ids=lambda path: str(path.relative_to(PRESETS)))
def test_every_preset_begins_with_its_summary_and_command(preset: Path) -> None:
    lines = read(preset).splitlines()
    name = str(preset.relative_to(PRESETS).with_suffix(""))
    assert re.fullmatch(rf"# \S.*\.   equipoise (run|sweep) {re.escape(name)}( .*)?", lines[0])
    assert len(lines) <= 40


@pytest.mark.parametrize(("name", "most"), [("README.md", 150), ("README.zh-CN.md", 150), ("CONTRIBUTING.md", 60)])
def test_front_pages_are_short(name: str, most: int) -> None:
    assert len(read(ROOT / name).splitlines()) <= most


def test_both_readmes_have_the_same_blocks() -> None:
    assert blocks(README) == blocks(README_ZH)


def test_both_readmes_have_the_same_tables_and_headings() -> None:
    assert [[len(row) for row in table] for table in tables(README)] == [
        [len(row) for row in table] for table in tables(README_ZH)
    ]
    levels = [re.findall(r"^#+ ", read(path), re.MULTILINE) for path in (README, README_ZH)]
    assert levels[0] == levels[1]


def test_both_readmes_have_the_same_commands_and_links() -> None:
    ours, theirs = (re.findall(r"`([^`\n]+)`", prose(path)) for path in (README, README_ZH))
    assert sorted(ours) == sorted(theirs)
    there = {README.name, README_ZH.name}
    assert [link for link in links(README) if link not in there] == [
        link for link in links(README_ZH) if link not in there
    ]


@pytest.mark.parametrize("path", [README, README_ZH], ids=name_of)
def test_the_readmes_show_the_same_figures(path: Path) -> None:
    assert tables(path)[0][1:] == tables(README)[0][1:]


def test_the_changelog_has_this_version_with_all_its_parts() -> None:
    parts = re.split(r"^## ", read(ROOT / "CHANGELOG.md"), flags=re.MULTILINE)[1:]
    versions = [part.split()[0] for part in parts]
    assert versions[0] == "Unreleased"
    assert __version__ in versions
    for part in parts:
        assert re.findall(r"^### (\w+)$", part, re.MULTILINE) == ["Added", "Changed", "Fixed", "Removed", "Numbers"]
