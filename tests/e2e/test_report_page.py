"""The page of a sweep in a browser: what is folded, how it opens, where links lead, and what is printed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from tests.commands import run_here
from tests.e2e.conftest import TINY

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; scripts/get-chromium installs it"),
]
CLOSED = "[...document.querySelectorAll('details')].filter(part => !part.open).length"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three methods over six seeds, and the report of their sweep in both languages."""
    place = tmp_path_factory.mktemp("page")
    sweep = ["sweep", "fedavg", "method=fedavg,fednova,fedprox", *TINY, "rounds=2", "--seeds", "6", "--name", "three"]
    reports = [["report", "--sweep", "three", "--lang", lang, "-o", f"{lang}.html"] for lang in ("en", "zh")]
    for arguments in (sweep, *reports):
        done = run_here(place, *arguments)
        assert done.code == 0, done.err
    return place


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM)
        yield opened
        opened.close()


def opened(browser: Browser, file: Path, width: int = 1280, dark: bool = False) -> Page:
    """The page, drawn; what it logs or requests is an error."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")

    def complain(what: ConsoleMessage | Request) -> None:
        raise AssertionError(f"the page logs or asks for {what.text if isinstance(what, ConsoleMessage) else what.url}")

    page.on("console", complain)
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else complain(asked))
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-drawn]")
    return page


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("zh", 1280), ("zh", 390)])
def test_all_is_drawn_and_fits_the_screen(browser: Browser, folder: Path, language: str, width: int) -> None:
    page = opened(browser, folder / f"{language}.html", width, dark=language == "zh")
    n_figures = page.locator("figure").count()
    assert page.evaluate("document.body.dataset.drawn") == str(n_figures) == "4"
    assert page.evaluate("document.body.dataset.errors") == ""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for key in ("overview", "critical-difference", "client-spread"):
        figure = page.locator(f"figure[data-key={key}]")
        assert figure.is_visible()
        assert figure.locator("svg [aria-roledescription$=mark], svg [class^=mark-]").count() > 0


def test_the_rest_is_folded_and_opens_by_keyboard(browser: Browser, folder: Path) -> None:
    page = opened(browser, folder / "en.html")
    assert page.locator("#results").is_visible()
    assert not page.locator("#protocol table").is_visible()
    page.locator("#protocol > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#protocol table").is_visible()


def test_one_button_opens_everything_and_closes_it_again(browser: Browser, folder: Path) -> None:
    page = opened(browser, folder / "en.html")
    button = page.locator("#all")
    assert button.text_content() == "Open all sections"
    button.click()
    assert page.evaluate(CLOSED) == 0
    page.get_by_role("button", name="Close all sections").click()
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 0


def test_a_value_of_the_table_leads_to_its_runs(browser: Browser, folder: Path) -> None:
    page = opened(browser, folder / "en.html")
    row = page.locator("#results tbody tr").nth(1)
    assert not page.locator("#runs table").is_visible()
    link = row.locator("td").nth(2).locator("a")
    runs = str(link.get_attribute("title")).split(", ")
    link.click()
    first = page.locator("#row-1")
    first.wait_for(state="visible")
    assert first.locator("td").first.text_content() == row.locator("td").first.text_content()
    assert first.locator("td").nth(2).text_content() == runs[0]
    assert len(set(runs)) == 6
    assert page.locator("#runs tbody tr").count() == 18


def test_a_link_into_a_folded_section_works_from_outside(browser: Browser, folder: Path) -> None:
    page = opened(browser, folder / "en.html")
    page.goto(f"{(folder / 'en.html').as_uri()}#row-2")
    page.locator("#row-2").wait_for(state="visible")


def test_a_count_of_findings_leads_to_the_findings_of_the_method(browser: Browser, folder: Path) -> None:
    page = opened(browser, folder / "en.html")
    if not page.locator("#findings").evaluate("part => part.open"):
        page.locator("#findings > summary").click()
    count = page.locator("#findings table a").first
    target = page.locator(str(count.get_attribute("href")))
    assert not target.locator(".finding").first.is_visible()
    count.click()
    target.locator(".finding").first.wait_for(state="visible")


def test_everything_is_printed_and_what_was_folded_is_folded_afterwards(browser: Browser, folder: Path) -> None:
    page = opened(browser, folder / "en.html")
    before = page.evaluate(CLOSED)
    page.evaluate(f"addEventListener('beforeprint', () => {{ window.closedInPrint = {CLOSED}; }})")
    assert page.pdf().startswith(b"%PDF")
    assert page.evaluate("window.closedInPrint") == 0
    assert page.evaluate(CLOSED) == before > 0


def test_a_search_opens_the_section_with_the_text(browser: Browser, folder: Path) -> None:
    """A link to a text is searched like Ctrl-F, which no script can call."""
    page = browser.new_page()
    page.goto(f"{(folder / 'en.html').as_uri()}#:~:text=choice%20of%20the%20best%20checkpoint")
    page.locator("#protocol table").wait_for(state="visible")
