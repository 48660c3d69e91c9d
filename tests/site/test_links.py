"""The link check: what it must find in a built site, and what it must leave alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from scripts.check_links import problems

from tests.docs.documents import ROOT

HEAD = '<!doctype html><html><head><title>x</title><link rel="canonical" href="https://example.org/a.html"></head>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Two pages that are in order, and a picture."""
    folder = tmp_path / "dev"
    (folder / "deep").mkdir(parents=True)
    (folder / "picture.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "index.html").write_text(
        f'{HEAD}<h1 id="top">a</h1><a href="deep/#λ-policies">b</a><a href="#top">c</a><img src="picture.svg">'
        '<a href="https://example.org/x?y=1">d</a><a href="mailto:a@example.org">e</a>',
        encoding="utf-8",
    )
    (folder / "deep" / "index.html").write_text(
        f'{HEAD}<h2 id="λ-policies">λ</h2><a href="../index.html#top">a</a><a href="%CE%BB.html">b</a>',
        encoding="utf-8",
    )
    (folder / "deep" / "λ.html").write_text(HEAD, encoding="utf-8")
    return folder


def test_a_site_in_order_has_no_problem(site: Path) -> None:
    assert list(problems(site)) == []


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ('<a href="gone.html">', "gone.html: no such file"),
        ('<a href="deep/#gone">', "deep/#gone: no such place in that page"),
        ('<a href="#gone">', "#gone: no such place in that page"),
        ('<img src="gone.png">', "gone.png: no such file"),
        ('<img srcset="picture.svg 1x, gone.png 2x">', "gone.png: no such file"),
        ('<a href="../../secret.html">', "../../secret.html: leads out of the site"),
        (
            '<script src="https://cdn.example.org/x.js"></script>',
            "https://cdn.example.org/x.js: is loaded from the web",
        ),
        ('<link rel="preconnect" href="//fonts.example.org">', "//fonts.example.org: is loaded from the web"),
        ('<a href="https://nowhere">', "https://nowhere: is no address"),
        ('<a href="htps://example.org">', "htps://example.org: is no address"),
    ],
)
def test_a_dead_link_is_told_with_its_page(added: str, told: str, site: Path) -> None:
    page = site / "index.html"
    page.write_text(page.read_text(encoding="utf-8") + added, encoding="utf-8")
    assert list(problems(site)) == [f"index.html: {told}"]


def test_the_script_ends_with_1_for_a_dead_link_and_2_without_a_site(site: Path) -> None:
    def ended(folder: Path) -> int:
        command = [sys.executable, "scripts/check_links.py", str(folder)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode

    assert ended(site) == 0
    (site / "picture.svg").unlink()
    assert ended(site) == 1
    assert ended(site / "deep" / "gone") == 2
