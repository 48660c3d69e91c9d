"""Whatever a file holds, reading it gives runs or an error of ours; and what was written is what is read."""

from __future__ import annotations

import csv
import io
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equipoise.core.errors import DataError
from equipoise.diagnose.examine import examine
from equipoise.diagnose.foreign import read_table

CELL = st.one_of(
    st.sampled_from(
        ["", "0", "1", "2.5", "-1", "nan", "inf", "1e400", "lam", "accuracy/merged", "server", "é", '"', "a,b"]
    ),
    st.text(max_size=6),
    st.integers(-3, 12).map(str),
    st.floats(allow_nan=True).map(str),
)
HEADER = st.lists(
    st.sampled_from(["run", "step", "round", "client", "name", "value", "Name", "metric", "x", ""]),
    min_size=1,
    max_size=8,
)
WRITTEN = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.one_of(st.none(), st.integers(0, 9)),
        st.sampled_from(["lam", "schedule", "loss/align", "accuracy/merged", "update/norm", "grad/cosine", "steps"]),
        st.floats(allow_nan=False),
    ),
    min_size=1,
    max_size=60,
    unique_by=lambda row: row[:3],
)
UNMINDED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
MANY = settings(max_examples=400, deadline=None, suppress_health_check=UNMINDED)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table"


def looked_at(path: Path) -> None:
    with suppress(DataError):
        for run in read_table(path, {"classes": 10, "lam_max": 5.0, "steps": 12}, {}).runs:
            examine(run).to_json()


@MANY
@given(header=HEADER, rows=st.lists(st.lists(CELL, max_size=8), max_size=12))
def test_any_csv(path: Path, header: list[str], rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    file = path.with_suffix(".csv")
    file.write_text(text.getvalue(), encoding="utf-8", errors="surrogatepass")
    looked_at(file)


@MANY
@given(data=st.binary(max_size=300), suffix=st.sampled_from([".csv", ".tsv", ".jsonl", ".parquet"]))
def test_any_bytes(path: Path, data: bytes, suffix: str) -> None:
    file = path.with_suffix(suffix)
    file.write_bytes(data)
    looked_at(file)


@MANY
@given(
    rows=st.lists(
        st.dictionaries(
            st.sampled_from(["step", "name", "value", "client", "run"]),
            st.one_of(
                st.none(),
                st.booleans(),
                st.integers(-5, 10**20),
                st.floats(),
                st.text(max_size=5),
                st.lists(st.integers(), max_size=2),
            ),
        ),
        max_size=10,
    )
)
def test_any_json_lines(path: Path, rows: list[dict[str, object]]) -> None:
    file = path.with_suffix(".jsonl")
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8", errors="surrogatepass")
    looked_at(file)


@settings(max_examples=200, deadline=None, suppress_health_check=UNMINDED)
@given(rows=WRITTEN)
def test_what_was_written_is_what_is_read(path: Path, rows: list[tuple[int, int | None, str, float]]) -> None:
    file = path.with_suffix(".csv")
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["step", "client", "name", "value"])
        writer.writerows([step, "" if client is None else client, name, value] for step, client, name, value in rows)
    (run,) = read_table(file, {}, {}).runs
    found = {
        (int(step), curve.client, name, float(value))
        for name, by in run.curves.items()
        for curve in by.values()
        for step, value in zip(curve.steps, curve.values, strict=True)
    }
    assert found == set(rows)
    examine(run)
