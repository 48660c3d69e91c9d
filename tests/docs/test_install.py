"""The page on installing names every extra, and the targets it shows exist."""

from __future__ import annotations

import re
import tomllib

from tests.docs.documents import DOCS, ROOT, blocks, read, tables

PAGE = DOCS / "howto" / "install.md"
PROJECT = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]


def test_every_extra_is_in_its_table() -> None:
    (table,) = [table for table in tables(PAGE) if table[0][0] == "extra"]
    assert {row[0].strip("`") for row in table[1:]} == set(PROJECT["optional-dependencies"])


def test_every_target_of_make_that_is_shown_exists() -> None:
    shown = {name for block in blocks(PAGE, "text") for name in re.findall(r"^make ([\w-]+)", block.text, re.MULTILINE)}
    shown |= set(re.findall(r"`make ([\w-]+)", read(PAGE)))
    assert shown >= {"setup", "package", "try-wheel", "release"}
    assert shown <= set(re.findall(r"^([\w-]+):", read(ROOT / "Makefile"), re.MULTILINE))


def test_every_python_that_the_package_names_is_on_the_page() -> None:
    named = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)]
    assert len(named) >= 1
    assert all(version in read(PAGE) for version in named)
