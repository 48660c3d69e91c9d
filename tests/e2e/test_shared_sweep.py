"""The same sweep started twice at once, as on two machines over one database: the work is shared.

Four processes for each database, so SQLite is one of the slow tests where PostgreSQL is there.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from equipoise.store import read
from equipoise.store.database import open_store
from tests.commands import PATIENCE
from tests.e2e.conftest import TINY, command, environment
from tests.unit.store.conftest import POSTGRES, location, postgres_url  # noqa: F401 (fixtures)

pytestmark = pytest.mark.slow

CELLS = 6


@pytest.mark.parametrize(
    "location", [pytest.param("sqlite", marks=pytest.mark.slow if POSTGRES else ()), "postgresql"], indirect=True
)
def test_the_same_sweep_started_twice_shares_the_work(location: str, tmp_path: Path) -> None:  # noqa: F811
    open_store(location).close()
    seeds = ",".join(map(str, range(CELLS)))
    words = ["sweep", "fedavg", *TINY, "rounds=3", "--seeds", seeds, "-j", "1", "--json", "--store", location]
    variables = {"EQUIPOISE_BLOBS": str(tmp_path / "blobs")} if "://" in location else {}
    both = [
        subprocess.Popen(
            command(*words),
            cwd=tmp_path,
            env=environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    ends = [process.communicate(timeout=PATIENCE) for process in both]
    assert [process.returncode for process in both] == [0, 0], [err for _, err in ends]
    first, second = (json.loads(out) for out, _ in ends)
    assert first == second, "both print the whole table"
    with open_store(location) as store:
        runs = read.runs(store)
        assert Counter(run.status for run in runs) == {"done": CELLS}
        assert sorted(run.seed for run in runs) == list(range(CELLS)), "every cell was trained once"
    shares = [err.count("  done  ") for _, err in ends]
    assert sum(shares) == CELLS
