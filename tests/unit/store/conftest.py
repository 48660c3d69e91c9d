"""Every test of the store runs on SQLite and, where a server is given, on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from equipoise.store.database import Store, open_store
from equipoise.store.records import NewRun
from equipoise.store.write import create_run

POSTGRES = os.environ.get("EQUIPOISE_TEST_POSTGRES", "")
Script = Callable[..., "subprocess.Popen[str]"]


def postgres_schema() -> Iterator[str]:
    """The URL of an empty schema, which is dropped afterwards."""
    psycopg = pytest.importorskip("psycopg")
    if not POSTGRES:
        pytest.skip("EQUIPOISE_TEST_POSTGRES is not set; scripts/with-postgres sets it")
    schema = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(POSTGRES, autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA {schema}")
        yield f"{POSTGRES}&options=-csearch_path%3D{schema}"
        admin.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture
def postgres_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("EQUIPOISE_BLOBS", str(tmp_path / "blobs"))
    yield from postgres_schema()


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return str(tmp_path / "equipoise.db")


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "equipoise.db"


@pytest.fixture
def store(location: str) -> Iterator[Store]:
    with open_store(location, patience=60) as opened:
        yield opened


def a_run(run_id: str = "fedavg-000001", **changes: object) -> NewRun:
    about = {"name": "fedavg", "method": "fedavg", "seed": 7, "config": {"method": {"name": "fedavg"}, "rounds": 3}}
    more = {"config_hash": "c0ffee", "headline": "accuracy", "version": "0.1.0"}
    return NewRun(**{"run_id": run_id, **about, **more, **changes})  # type: ignore[arg-type]


@pytest.fixture
def run_id(store: Store) -> str:
    """A run in the store that nobody is working on."""
    create_run(store, a_run())
    return "fedavg-000001"


@pytest.fixture
def script(location: str) -> Iterator[Script]:
    """Start a program in a process of its own; `LOCATION` is the store's place, `ARGUMENTS` what it was given."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *arguments: str) -> subprocess.Popen[str]:
        head = "import sys; LOCATION, *ARGUMENTS = sys.argv[1:]\n"
        command = [sys.executable, "-c", head + textwrap.dedent(code), location, *arguments]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def finished(process: subprocess.Popen[str]) -> str:
    """What the program printed; that it failed is a failure of the test."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out
