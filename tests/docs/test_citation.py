"""The citation file is what its format wants, and the version stands in one place."""

from __future__ import annotations

import tomllib

import yaml

from equipoise import __version__
from tests.commands import run_here
from tests.docs.documents import ROOT, read

PROJECT = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
CITATION = yaml.safe_load(read(ROOT / "CITATION.cff"))
REQUIRED = {"cff-version", "message", "title", "authors"}
KNOWN = {
    *REQUIRED, "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license",
    "license-url", "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type",
    "url", "version",
}  # fmt: skip
"""The keys that version 1.2.0 of the format has at its top."""


def test_the_citation_has_what_its_format_requires_and_nothing_that_it_does_not_know() -> None:
    assert CITATION.keys() >= REQUIRED
    assert CITATION.keys() <= KNOWN
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] in {"software", "dataset"}
    assert all(isinstance(word, str) and word for word in CITATION["keywords"])
    assert len(set(CITATION["keywords"])) == len(CITATION["keywords"])


def test_the_citation_names_the_authors_and_the_licence_of_the_project() -> None:
    assert CITATION["authors"] == [{"name": each["name"]} for each in PROJECT["authors"]]
    assert CITATION["license"] == PROJECT["license"]


def test_the_version_stands_in_one_place(tmp_path) -> None:
    assert "version" not in PROJECT
    assert "version" in PROJECT["dynamic"]
    assert "version" not in CITATION
    assert run_here(tmp_path, "--version").out.split() == ["equipoise", __version__]
