"""The built site in a browser: no warning, no dead link, no request that leaves, search, versions, both palettes."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from scripts.check_links import problems, read
from scripts.website.versions import write_versions

from tests.commands import PATIENCE
from tests.docs.documents import DOCS, ROOT

pytestmark = pytest.mark.browser
PAGES = ["index.html", "start.html", "zh.html", "api/index.html", "gallery/index.html", "gallery/runaway.html",
         "tutorials/in-a-notebook.html", "reference/config.html", "results/README.html"]  # fmt: skip
"""One of each kind. mkdocs writes a README.md as index.html."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal."""


def build(site: Path, work: Path) -> str:
    """`python -m scripts.website`, as `make site` does; what it printed."""
    command = [sys.executable, "-m", "scripts.website", "--version", "dev", "--to", str(site), "--work", str(work)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built twice: the second build has nothing to train. Beside it an older version, which both builds kept."""
    folder, work = tmp_path_factory.mktemp("built") / "site", tmp_path_factory.mktemp("work")
    assert "drawn anew: partitions, two-methods" in build(folder, work)
    shutil.copytree(folder / "dev", folder / "0.1.0")
    assert "nothing, all was kept" in build(folder, work)
    assert (folder / "0.1.0" / "index.html").is_file()
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium")
    assert found is not None, "scripts/get-chromium installs the browser of these tests"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """A tab whose page must not complain and must not ask anybody but its own server."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, wrong = context.new_page(), []
    own = ("http://127.0.0.1:", "file:", "data:", "blob:", "about:")
    page.on("request", lambda request: request.url.startswith(own) or wrong.append(request.url))
    page.on("response", lambda answer: answer.status < 400 or wrong.append(f"{answer.status} {answer.url}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert wrong == []


def test_no_link_is_dead(site: Path) -> None:
    assert list(problems(site / "dev")) == []


def test_every_page_of_docs_is_reached_by_links_from_the_front_page(site: Path) -> None:
    dev = (site / "dev").resolve()
    reached, waiting = set(), [dev / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in reached or not page.is_file() or page.suffix != ".html":
            continue
        reached.add(page)
        waiting += [(page.parent / link.target.split("#")[0]).resolve() for link in read(page).links]
    pages = [path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")]
    renamed = {"index.html": "start.html", "results/README.html": "results/index.html"}
    assert {renamed.get(name, name) for name in pages} <= {path.relative_to(dev).as_posix() for path in reached}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_ask_nobody_else_and_fit(width: int, scheme: str, tab: Any, address: str) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    tab.emulate_media(color_scheme=scheme)
    for name in PAGES:
        tab.goto(f"{address}dev/{name.replace('README', 'index')}", wait_until="networkidle")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
        back = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = sum(map(int, re.findall(r"\d+", back)[:3])) / 3
        assert (brightness > 128) is (scheme == "light"), name


def test_the_colours_can_be_chosen(tab: Any, address: str) -> None:
    tab.goto(f"{address}dev/start.html")
    seen = []
    for choice in ("Use the light colours", "Use the dark colours", "Use the colours of the system"):
        tab.locator(f"label[title='{choice}']:visible").click()
        seen.append(tab.evaluate("document.body.getAttribute('data-md-color-scheme')"))
    assert seen[:2] == ["default", "slate"]


@pytest.mark.parametrize("way", ["from a server", "as a file"])
def test_search_finds_a_rule(way: str, tab: Any, address: str, site: Path) -> None:
    start = f"{address}dev/" if way == "from a server" else f"{(site / 'dev').as_uri()}/"
    tab.goto(f"{start}start.html")
    tab.locator("input.md-search__input").press_sequentially("lambda-runaway")
    tab.locator("a.md-search-result__link[href*='reference/rules.html']").first.wait_for(state="attached")


def test_the_reader_can_change_the_version(tab: Any, address: str, site: Path) -> None:
    write_versions(site)
    tab.goto(address)
    tab.wait_for_url("**/0.1.0/index.html")
    tab.locator(".md-version__current").focus()
    assert tab.locator(".md-version__link").all_inner_texts() == ["dev", "0.1.0"]
    tab.locator(".md-version__link", has_text="dev").click()
    tab.wait_for_url("**/dev/**")


def test_the_gallery_shows_pictures_and_a_report(tab: Any, address: str) -> None:
    tab.goto(f"{address}dev/gallery/runaway.html", wait_until="networkidle")
    drawn = "[...document.querySelectorAll('.gallery img')].map(each => (each.loading = 'eager', each.decode()))"
    tab.evaluate(f"Promise.all({drawn})")
    tab.locator("iframe.report").scroll_into_view_if_needed()
    report = tab.frame_locator("iframe.report")
    report.get_by_text("lambda-runaway").first.wait_for(state="attached")
