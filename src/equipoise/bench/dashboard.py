"""The dashboard over a large store, and beside a run: how fast it answers, what it costs, whether a write waits.

    answers      the slowest of a page's answers, against 300 ms            1 000 clients × 1 000 checkpoints
    cost         processor time of the server with ten pages open, against that of the run that they show
    writes       seconds a run spends writing with ten pages open, against the same run unwatched

The server is `equipoise serve` in a process of its own. An open page is what its script does: it listens, and asks for
what changed when it is told to. First paint is measured in Chromium where Playwright and a browser are installed.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from equipoise.bench.big_store import BIG_RUN, MAPPED, fill
from equipoise.bench.measure import BenchmarkResult, Goal
from equipoise.bench.paint import first_paint

PAGES, ALLOWED = 10, 0.3
RUN = [
    "data=synthetic", "data.train=20000", "partition=drawn", "partition.clients=1000", "model=linear", "rounds=40",
    "server.fraction=1", "evaluate.clients=1000", "evaluate.client_images=100", "client.epochs=8",
]  # fmt: skip


def run(repeats: int) -> Iterator[BenchmarkResult]:
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "big.db"
        fill(big)
        with serving(big) as (address, _):
            yield from _answers(address, repeats)
        yield from _beside_a_run(Path(folder))


def _answers(address: str, repeats: int) -> Iterator[BenchmarkResult]:
    maps = [f"runs/{BIG_RUN}/map?metric={metric}" for metric in MAPPED]
    asked = {
        "runs": "",
        "run": f"runs/{BIG_RUN}",
        "run-json": f"runs/{BIG_RUN}?format=json",
        "charts": f"runs/{BIG_RUN}/charts",
        **{f"map-{i}": path for i, path in enumerate(maps, start=1)},
        "zoomed": f"{maps[0]}&first=400&last=500",
    }
    urlopen(f"{address}assets/vega.js").read()
    for name, path in asked.items():
        seconds = [_seconds(address + path) for _ in range(repeats + 1)]  # the first is what a new page waits for
        middle, worst = statistics.median(seconds), max(seconds)
        what = f"{path or '/'}: the slowest answer, against {1000 * ALLOWED:.0f} ms"
        spread = (min(seconds) / ALLOWED, worst / ALLOWED)
        note = f"first {1000 * seconds[0]:.0f} ms"
        yield BenchmarkResult(
            f"dashboard/{name}", what, worst / ALLOWED, spread, middle, ALLOWED, Goal("at most", 1.0), note=note
        )
    painted = first_paint(f"{address}runs/{BIG_RUN}", repeats)
    if painted:
        spread = (min(painted), max(painted))
        what = "first paint in Chromium, from the end of the answer, against 1 s"
        middle = statistics.median(painted)
        yield BenchmarkResult("dashboard/paint", what, max(painted), spread, middle, 1.0, Goal("at most", 1.0))


def _seconds(address: str) -> float:
    began = time.perf_counter()
    with urlopen(address) as answer:
        answer.read()
    return time.perf_counter() - began


def _beside_a_run(folder: Path) -> Iterator[BenchmarkResult]:
    """The same run twice, unwatched and with ten pages open."""
    alone = _run(folder / "alone.db")
    store = folder / "watched.db"
    with serving(store) as (address, pid), _open_pages(address):
        before = _processor_time(pid)
        watched = _run(store)
        cost = _processor_time(pid) - before
    share = cost / watched.processor
    what = f"{PAGES} pages open: the server's processor time, against the run's"
    spread = (share, share)
    yield BenchmarkResult("dashboard/cost", what, share, spread, cost, watched.processor, Goal("at most", 0.01))
    ratio = watched.writing / alone.writing
    what = f"{PAGES} pages open: seconds of writing to the store, against the same run unwatched"
    note = f"longest write {1000 * watched.longest:.0f} ms, unwatched {1000 * alone.longest:.0f} ms"
    yield BenchmarkResult(
        "dashboard/writes", what, ratio, (ratio, ratio), watched.writing, alone.writing, Goal("at most", 1.5), note=note
    )


class _Cost:
    """Of one run: processor time, seconds of writing, and the longest commit."""

    def __init__(self, text: str) -> None:
        self.processor, self.writing, self.longest = (float(part) for part in text.split())


MEASURED = """
import sys, time
from equipoise.config.loader import load
from equipoise.run import carry_on, session
from equipoise.run.watch import Nobody
from equipoise.store import write
from equipoise.store.database import open_store
seconds, commit = [], write.commit_step
def timed(*given):
    began = time.perf_counter()
    commit(*given)
    seconds.append(time.perf_counter() - began)
write.commit_step = timed
with open_store(sys.argv[1]) as store:
    session.start(store, load("fedavg", sys.argv[2:]), Nobody())
print(time.process_time(), sum(seconds), max(seconds))
"""


def _run(store: Path) -> _Cost:
    """In a process of its own, so that its processor time is its own."""
    command = [sys.executable, "-c", MEASURED, str(store), *RUN]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return _Cost(found.stdout)


@contextmanager
def serving(store: Path) -> Iterator[tuple[str, int]]:
    """The address of a dashboard over that store, and the number of its process."""
    command = [sys.executable, "-m", "equipoise", "serve", "--port", "0", "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[1], server.pid
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(20)


@contextmanager
def _open_pages(address: str) -> Iterator[None]:
    """Ten pages that listen, and fetch what changed when they are told to: the list, and nine times the run."""
    is_over = threading.Event()
    threads = [threading.Thread(target=_page, args=(address, i > 0, is_over), daemon=True) for i in range(PAGES)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()


def _page(address: str, of_run: bool, is_over: threading.Event) -> None:
    path = ""
    with urlopen(f"{address}changes", timeout=60) as events:
        for line in events:
            if is_over.is_set():
                return
            if line.startswith(b"event: changed"):
                path = path or (_newest(address) if of_run else "")
                for part in _parts(path):
                    urlopen(Request(address + part, headers={"X-Part": "main"})).read()


def _parts(path: str) -> list[str]:
    """What an open page asks for again: itself, and of a run its charts and the maps in view."""
    return [path, f"{path}/charts", *(f"{path}/map?metric={metric}" for metric in MAPPED[:2])] if path else [path]


def _newest(address: str) -> str:
    runs = json.load(urlopen(f"{address}?format=json"))["runs"]
    return f"runs/{runs[0]['run_id']}" if runs else ""


def _processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
