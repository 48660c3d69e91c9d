"""A store with real runs, made once; and visitors of a dashboard over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from equipoise.config.loader import Request
from equipoise.dashboard.view import Dashboard
from equipoise.run.announce import Membership
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store import write
from equipoise.store.database import Store, open_store
from tests.conftest import tiny
from tests.unit.store.conftest import a_run

from .visits import Visits, visits

SWEEP = "small/sweep"


def run_of(store: Store, *settings: str, cell: str | None = None) -> str:
    membership = Membership() if cell is None else Membership(SWEEP, cell)
    return start(store, Request(tiny(*settings), None), Nobody(), membership)


def written_run(store: Store, run_id: str = "fedavg-000001", **changes: object) -> str:
    """A run in the store, begun and without a number, that nobody works on."""
    config = tiny("rounds=3").model_dump(mode="json")
    write.create_run(store, a_run(run_id, **{"config": config, "headline": "accuracy/merged", **changes}))
    return run_id


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """Two runs of a sweep that are done, and one that was stopped. Tests only read it."""
    place = tmp_path_factory.mktemp("dashboard") / "equipoise.db"
    with open_store(str(place)) as store:
        first = run_of(store, cell="plain")
        second = run_of(store, "method=etf-align", "balance=constant", "seed=1", cell="aligned")
        write.set_members(store, SWEEP, [("plain", first), ("aligned", second)])
        write.finish(store, run_of(store, "method=fedavgm"), "stopped")
        board = Dashboard(store, str(place))
        yield board
        board.background.close()
        board.changes.close()


@pytest.fixture
def done(shared: Dashboard) -> list[str]:
    """The runs that are done, oldest first."""
    from equipoise.store import read

    return [run.run_id for run in reversed(read.runs(shared.store, status="done"))]


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "own.db")


@pytest.fixture
def board(place: str) -> Iterator[Dashboard]:
    """Over an empty store of the test's own."""
    with open_store(place, patience=60) as store:
        made = Dashboard(store, place)
        yield made
        made.background.close()
        made.changes.close()
        for job in made.actions.jobs:
            if job.exit_code is None:
                job.process.kill()
            job.process.wait()


@pytest.fixture
def visitors(shared: Dashboard) -> Visits:
    return visits(shared)


@pytest.fixture
def own(board: Dashboard) -> Visits:
    return visits(board)
