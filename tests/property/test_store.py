"""What is written down comes back: numbers with NaN and infinity, any name, any detail."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.values import Event, Row
from equipoise.store import blobs, read
from equipoise.store.database import Store, open_store
from equipoise.store.records import NewRun, new_run_id
from equipoise.store.write import add_events, commit_step, create_run

POSTGRES = os.environ.get("EQUIPOISE_TEST_POSTGRES", "")
QUICK = settings(max_examples=40, deadline=None)

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
whole = st.none() | st.integers(0, 2**40)
numbers = st.lists(
    st.tuples(whole, whole, text, st.floats()), max_size=20, unique_by=lambda number: (number[1], number[2])
)
json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("store")
    if request.param == "sqlite":
        with open_store(folder / "equipoise.db") as opened:
            yield opened
        return
    psycopg = pytest.importorskip("psycopg")
    if not POSTGRES:
        pytest.skip("EQUIPOISE_TEST_POSTGRES is not set; scripts/with-postgres sets it")
    schema = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(POSTGRES, autocommit=True) as admin, pytest.MonkeyPatch.context() as patch:
        admin.execute(f"CREATE SCHEMA {schema}")
        patch.setenv("EQUIPOISE_BLOBS", str(folder / "blobs"))
        with open_store(f"{POSTGRES}&options=-csearch_path%3D{schema}") as opened:
            yield opened
        admin.execute(f"DROP SCHEMA {schema} CASCADE")


def started(store: Store, **changes: object) -> str:
    about = {"name": "x", "method": "x", "seed": 0, "config": {}, "config_hash": "x", "headline": "x", "version": "x"}
    run = NewRun(**{"run_id": new_run_id("x"), **about, **changes})  # type: ignore[arg-type]
    create_run(store, run)
    return run.run_id


@QUICK
@given(step=st.integers(0, 2**40), recorded=numbers)
def test_rows_come_back(store: Store, step: int, recorded: list[tuple[int | None, int | None, str, float]]) -> None:
    run_id = started(store)
    rows = [Row(step, *number) for number in recorded]
    commit_step(store, run_id, step, rows, [], {})
    # a NaN equals nothing, not even itself; its text does; and a database may give 0.0 for -0.0
    assert sorted(map(repr, _unsigned(read.rows(store, run_id)))) == sorted(map(repr, _unsigned(rows)))
    table = [Row(*number) for number in read.metrics(store, run_id).drop("run_id").iter_rows()]
    assert repr(table) == repr(read.rows(store, run_id))


def _unsigned(rows: list[Row]) -> list[Row]:
    return [Row(row.step, row.round, row.client, row.name, row.value + 0.0) for row in rows]


@QUICK
@given(kind=text, message=text, step=whole, client=whole, detail=st.dictionaries(st.text(max_size=10), json))
def test_events_come_back(
    store: Store, kind: str, message: str, step: int | None, client: int | None, detail: dict[str, object]
) -> None:
    run_id = started(store)
    event = Event(kind, message, step, client, detail)
    add_events(store, run_id, [event])
    (found,) = read.events(store, run_id)
    assert found.event == event


@QUICK
@given(name=text, seed=st.integers(0, 2**63 - 1), config=st.dictionaries(st.text(max_size=10), json))
def test_runs_come_back(store: Store, name: str, seed: int, config: dict[str, object]) -> None:
    run = read.find_run(store, started(store, name=name, seed=seed, config=config))
    assert (run.name, run.seed, run.config) == (name, seed, config)


@QUICK
@given(data=st.binary(max_size=2000))
def test_blobs_come_back(store: Store, data: bytes) -> None:
    digest = blobs.put(store, data)
    assert blobs.put(store, data) == digest
    assert blobs.get(store, digest) == data
