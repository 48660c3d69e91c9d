"""The reference is complete, and says what the code says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from equipoise.cli import app
from equipoise.config.aliases import CANONICAL
from equipoise.config.loader import preset_names
from equipoise.config.named import NAMED, PLAIN
from equipoise.config.schema import Config
from equipoise.core.registry import BALANCES, DATASETS, METHODS, MODELS, SPLITTERS
from tests.docs.documents import DOCS, ROOT, generator, read, tables

REFERENCE = generator()
COMMANDS = dict(REFERENCE.leaves(typer.main.get_command(app)))


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return REFERENCE.pages()


def test_no_page_is_stale(pages: dict[str, str]) -> None:
    stale = [name for name, text in pages.items() if read(DOCS / "reference" / name) != text]
    assert not stale, "run `make docs`"


def test_every_page_of_the_folder_is_generated_or_written_by_hand(pages: dict[str, str]) -> None:
    there = {path.name for path in (DOCS / "reference").iterdir()}
    assert there == {*pages, "metrics.md", "glossary.md"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help_and_is_documented(name: str) -> None:
    section = read(DOCS / "reference" / "commands.md").split(f"\n## equipoise {name}\n")[1].split("\n## ")[0]
    assert COMMANDS[name].help
    for param in COMMANDS[name].params:
        assert param.help, f"{name}: {param.name} has no help"
        for option in param.opts if param.param_type_name == "option" else []:
            assert f"`{option}`" in section


@pytest.mark.parametrize("name", COMMANDS)
def test_every_json_document_is_described(name: str) -> None:
    prints_json = any(param.name == "as_json" for param in COMMANDS[name].params)
    assert prints_json == (name in REFERENCE.JSON)


def test_every_key_is_documented_with_a_description() -> None:
    text = read(DOCS / "reference" / "config.md")
    kinds = [("", Config), *((f"{name}.", options) for name, options in PLAIN.items())]
    kinds += [(f"{block}.", entry.options) for block, registry in NAMED.items() for entry in registry]
    for prefix, options in kinds:
        for key, field in options.model_fields.items():
            if prefix or key not in {**NAMED, **PLAIN}:
                assert f"`{prefix}{key}`" in text
                assert key == "name" or field.description, f"{prefix}{key} has no description"


def test_every_other_name_of_a_key_is_documented() -> None:
    section = read(DOCS / "reference" / "config.md").split("## Names that are understood")[1]
    assert set(re.findall(r"`([^`]+)`", section)) == {*CANONICAL, *CANONICAL.values()}


@pytest.mark.parametrize(
    ("page", "registry"),
    [
        ("methods", METHODS),
        ("balances", BALANCES),
        ("models", MODELS),
        ("datasets", DATASETS),
        ("partitions", SPLITTERS),
    ],
)
def test_every_registered_name_has_its_heading(page: str, registry: object) -> None:
    headings = " · ".join(re.findall(r"^## (.*)$", read(DOCS / "reference" / f"{page}.md"), re.MULTILINE))
    assert {entry.name for entry in registry} <= set(headings.split(" · "))  # type: ignore[attr-defined]


def test_every_preset_is_documented() -> None:
    headings = re.findall(r"^## (.*)$", read(DOCS / "reference" / "presets.md"), re.MULTILINE)
    assert headings == preset_names()


def test_every_error_is_documented_with_its_exit_code() -> None:
    (table,) = tables(DOCS / "reference" / "errors.md")
    documented = {row[0].strip("`"): row[2] for row in table[1:]}
    assert documented == {kind.__name__: str(kind.exit_code) for kind in REFERENCE.known_errors()}


def test_every_event_is_documented() -> None:
    source = "\n".join(read(path) for path in (ROOT / "src").rglob("*.py"))
    kinds = set(re.findall(r'Event\(\s*"([\w-]+)"', source))
    kinds |= set(re.findall(r'"(guard-\w+)"', source))
    kinds |= {f"client-{kind}" for kind in re.findall(r'ClientFailure\([\w.]+, "([\w-]+)"', source)}
    kinds |= {f"client-{kind}" for kind in re.findall(r'\bstep\.fail\([\w.]+, "([\w-]+)"', source)}
    assert len(kinds) >= 5
    (table,) = [table for table in tables(DOCS / "reference" / "metrics.md") if table[0][0] == "kind"]
    assert {row[0].strip("`") for row in table[1:]} == kinds


def test_every_variable_is_documented() -> None:
    source = "\n".join(read(path) for path in (ROOT / "src").rglob("*.py"))
    assert set(re.findall(r'"(EQUIPOISE_\w+)"', source)) == {name for name, _ in REFERENCE.VARIABLES}


def test_check_fails_on_a_stale_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(REFERENCE, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["write_reference.py", "--check"])
    with pytest.raises(SystemExit) as ended:
        REFERENCE.main()
    assert ended.value.code == 1
    monkeypatch.setattr(sys, "argv", ["write_reference.py"])
    REFERENCE.main()
    assert {path.name for path in tmp_path.iterdir()} == set(REFERENCE.pages())


def test_the_script_runs_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "write_reference.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
