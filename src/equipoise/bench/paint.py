"""First paint of a page in Chromium, where Playwright and a browser are installed."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SINCE_THE_ANSWER = """() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return paint ? (paint.startTime - performance.getEntriesByType("navigation")[0].responseEnd) / 1000 : null;
}"""


def first_paint(address: str, repeats: int) -> list[float]:
    """Seconds from the end of the answer to the first paint; empty without a browser."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None or find_spec("playwright") is None:
        return []
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=ARGUMENTS)
        for _ in range(repeats + 1):
            page = browser.new_page()
            page.goto(address)
            page.wait_for_selector("#maps [data-drawn]", state="attached")
            seconds = page.evaluate(SINCE_THE_ANSWER)
            if seconds is not None:
                found.append(max(0.0, float(seconds)))
            page.close()
        browser.close()
    return found
