"""The dashboard in Chromium while a run, a failing run and a sweep go on; as a user sees it, wide and narrow."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; scripts/get-chromium installs it"),
]
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
SHOTS = os.environ.get("EQUIPOISE_SHOTS")
"""A folder for pictures of every page, to be looked at."""
ENDLESS = ["fedavg", "name=endless", "rounds=5000", "data=synthetic", "data.train=400", "model=mlp", "evaluate.every=1"]
RUNAWAY = [
    "ours", "balance={name: decoupled, sigma: {lr: 0.2}}", "client.epochs=300", "checkpoints=300",
    "client.schedule=cosine", "server.predict=energy-gate", "evaluate.beside=last",
]  # fmt: skip
SWEEP = [
    "fedavg",
    "method=fedavg,fedprox",
    "rounds=30",
    "data=synthetic",
    "data.train=400",
    "model=mlp",
    "--seeds",
    "2",
]
WAIT = 120_000


def command(store: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    full = [sys.executable, "-m", "equipoise", *arguments, "--store", str(store)]
    out = subprocess.PIPE if arguments[0] == "serve" else subprocess.DEVNULL
    return subprocess.Popen(full, stdout=out, stderr=subprocess.DEVNULL, env=environment)


@dataclass
class Served:
    """A dashboard over a store in which runs go on."""

    address: str
    sign_in: str
    store: Path


@contextmanager
def served(store: Path) -> Iterator[Served]:
    server = command(store, "serve", "--port", "0")
    assert server.stdout is not None
    lines = [server.stdout.readline().decode() for _ in range(2)]
    try:
        page, sign_in = (line.split()[1] for line in lines)
        yield Served(page, sign_in, store)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)
        server.stdout.close()


@pytest.fixture(scope="module")
def going(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = tmp_path_factory.mktemp("serve") / "runs.db"
    with served(store) as found:
        began = [command(store, "run", *ENDLESS), command(store, "sweep", *SWEEP)]
        yield found
        for process in began:
            process.send_signal(signal.SIGTERM)
        for process in began:
            process.wait(60)


@dataclass
class Screen:
    """An open browser tab, and what went wrong in it."""

    page: Any
    name: str
    base: str
    wrong: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> None:
        self.page.goto(self.base + path)
        self.page.evaluate("window.isTheSamePage = true")

    def read(self, selector: str, at: str = "textContent") -> str:
        return str(self.page.locator(selector).first.evaluate(f"each => each.{at}"))

    def changes(self, selector: str, at: str = "textContent") -> None:
        """Waits until something on the page is different, and the page was not loaded again for that."""
        before = self.read(selector, at)
        for _ in range(WAIT // 200):
            self.page.wait_for_timeout(200)
            if self.read(selector, at) != before:
                break
        else:
            raise AssertionError(f"{selector} stays {before!r}")
        assert self.page.evaluate("window.isTheSamePage === true"), "the page was loaded again"

    def counts(self, selector: str, least: int) -> None:
        self.page.locator(selector).nth(least - 1).wait_for()

    def picture(self, what: str) -> None:
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            f"{what} is wider than it may be"
        )
        if SHOTS:
            self.page.screenshot(path=f"{SHOTS}/{what}-{self.name}.png", full_page=True)


def follow(screen: Screen) -> None:
    def outside(request: Any) -> None:
        if not request.url.startswith((screen.base, "data:", "blob:")):
            screen.wrong.append(f"asked outside: {request.url}")

    page = screen.page
    page.on("console", lambda said: screen.wrong.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: screen.wrong.append(str(error)))
    page.on("request", outside)
    page.on("dialog", lambda dialog: dialog.accept())


@pytest.fixture(params=[(1280, "light", "en"), (390, "dark", "zh")], ids=["wide", "narrow"])
def screen(going: Served, request: pytest.FixtureRequest) -> Iterator[Screen]:
    playwright = pytest.importorskip("playwright.sync_api")
    width, scheme, language = request.param
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, locale=language)
        context.set_default_timeout(WAIT)
        found = Screen(context.new_page(), f"{width}-{scheme}-{language}", going.address)
        follow(found)
        found.page.goto(going.sign_in)
        yield found
        browser.close()
        assert found.wrong == []


def run_id(screen: Screen, name: str) -> str:
    found = screen.page.request.get(f"{screen.base}?text={name}&format=json").json()["runs"]
    return str(found[0]["run_id"])


def test_runs_move_on_in_the_list(screen: Screen) -> None:
    screen.page.wait_for_selector("text=endless-")
    screen.open()
    screen.changes("tr:has-text('endless-') progress", "value")
    screen.changes("tr:has-text('endless-') [data-left]")
    screen.picture("runs")


def test_a_run_moves_on_and_is_stopped_and_resumed(screen: Screen) -> None:
    screen.page.wait_for_selector("text=endless-")
    screen.open(f"runs/{run_id(screen, 'endless')}")
    screen.page.wait_for_selector("#now [data-step]")
    screen.changes("#now [data-step]")
    screen.changes("#head .facts .nowrap")
    screen.page.wait_for_selector("#charts[data-drawn]")
    screen.page.locator("#maps figure").first.scroll_into_view_if_needed()
    screen.page.wait_for_selector("#maps [data-drawn]")
    screen.changes("#maps .range")
    screen.page.locator("#maps canvas").first.focus()
    screen.page.keyboard.press("ArrowRight")
    assert re.search(r"\d", screen.read("#maps .cell"))
    screen.picture("run")
    screen.page.click("#stop")
    screen.page.wait_for_selector("#head .status.stopped")
    screen.page.click("#resume")
    screen.page.wait_for_selector("#head .status.running")
    screen.changes("#head .facts .nowrap")


def test_a_failing_run_shows_its_finding_while_it_goes_on(screen: Screen, going: Served) -> None:
    name = f"runaway-{screen.name}"
    failing = command(going.store, "run", *RUNAWAY, f"name={name}")
    screen.page.wait_for_selector(f"text={name}-")
    screen.open(f"runs/{run_id(screen, name)}")
    screen.page.wait_for_selector("[data-code='lambda-runaway']")
    assert screen.page.locator("#head .status.running").count() == 1
    assert screen.page.evaluate("window.isTheSamePage === true")
    screen.page.wait_for_selector("#charts[data-drawn]")
    screen.picture("failing")
    failing.send_signal(signal.SIGTERM)
    failing.wait(60)


def test_a_sweep_fills_its_table(screen: Screen) -> None:
    screen.page.wait_for_selector("a[href^='/sweeps/']")
    screen.open("sweeps/fedavg")
    screen.page.wait_for_selector(".cell.done")
    screen.page.wait_for_selector("table.numbers")
    screen.counts(".cell.done", 4)
    screen.picture("sweep")


def test_runs_are_compared_and_started(screen: Screen) -> None:
    screen.open("sweeps/fedavg")
    screen.counts(".cell.done", 2)
    screen.open("?sweep=fedavg")
    for tick in screen.page.locator("input[name=run]").all()[:2]:
        tick.check()
    screen.page.locator("#list button").click()
    screen.page.wait_for_selector("#compare svg")
    screen.picture("compare")
    screen.open("start")
    screen.page.fill("textarea", "rounds=2\nplugins=[evil.py]")
    screen.page.click("[data-order='/start']")
    screen.page.wait_for_selector("#wrong:not([hidden])")
    screen.wrong.clear()  # the browser reports the refused order in its console
    screen.page.select_option("select[name=preset]", "fedavg")
    screen.page.fill("textarea", f"rounds=2\nname=mine-{screen.name}\ndata.limit=200")
    screen.page.click("[data-order='/start/check']")
    screen.page.wait_for_selector("#checked pre")
    screen.page.click("[data-order='/start']")
    screen.page.wait_for_selector(f"#jobs .status.done ~ a:has-text('mine-{screen.name}')")
    screen.picture("start")


def test_without_the_token_nothing_can_be_done(going: Served) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_context(locale="en").new_page()
        page.goto(going.address)
        page.wait_for_selector("text=endless-")
        run = page.request.get(f"{going.address}?text=endless&format=json").json()["runs"][0]["run_id"]
        page.goto(f"{going.address}runs/{run}")
        assert page.locator("#stop, #resume").count() == 0
        headers = {"Content-Type": "application/json", "X-Equipoise": "1"}
        answer = page.request.post(f"{going.address}runs/{run}/stop", headers=headers, data="{}")
        assert answer.status == 401
        browser.close()
