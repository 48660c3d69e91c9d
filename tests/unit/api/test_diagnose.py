from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import equipoise as eq


def test_a_stored_run_by_itself_and_by_its_id(in_rounds: eq.RunHandle) -> None:
    diagnosis = eq.diagnose(in_rounds)
    assert isinstance(diagnosis, eq.Verdict)
    assert [finding.code for finding in diagnosis.findings] == [finding.code for finding in in_rounds.findings]
    assert eq.diagnose(in_rounds.id, store=in_rounds.store) == diagnosis
    assert in_rounds.id in repr(diagnosis)


EXPLODES = pl.DataFrame(
    {"step": [0, 1, 2], "client": [0, 0, 0], "name": ["loss/base"] * 3, "value": [1.0, 2.0, float("nan")]}
)


def test_a_frame_a_file_and_a_path_say_the_same(tmp_path: Path) -> None:
    EXPLODES.write_csv(tmp_path / "theirs.csv")
    of_frame = eq.diagnose(EXPLODES)
    assert "non-finite" in [finding.code for finding in of_frame.findings]
    assert of_frame.is_severe
    assert eq.diagnose(tmp_path / "theirs.csv").findings == of_frame.findings
    assert eq.diagnose(str(tmp_path / "theirs.csv")).findings == of_frame.findings


def test_a_pandas_frame() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert eq.diagnose(pandas.DataFrame(EXPLODES.to_dict(as_series=False))).findings == eq.diagnose(EXPLODES).findings


def test_metrics_of_a_run_are_such_a_frame(in_rounds: eq.RunHandle) -> None:
    found = eq.diagnose(in_rounds.metrics(), facts={"classes": 10})
    assert "class-blind" in {*found.passed, *(finding.code for finding in found.findings)}


def test_a_table_of_several_runs_has_several_verdicts() -> None:
    two = pl.concat([EXPLODES.with_columns(run=pl.lit(name)) for name in ("a", "b")])
    with pytest.raises(eq.ConfigError, match="holds 2 runs: a, b"):
        eq.diagnose(two)
    assert [each.name for each in eq.diagnose_all([two])] == ["a", "b"]


def test_limits_names_and_language(in_rounds: eq.RunHandle) -> None:
    renamed = EXPLODES.with_columns(name=pl.lit("train_loss"))
    assert eq.diagnose(renamed, names={"train_loss": "loss/base"}).findings == eq.diagnose(EXPLODES).findings
    (chinese, *_) = eq.diagnose(EXPLODES, language="zh").findings
    assert chinese.cause != eq.diagnose(EXPLODES).findings[0].cause
    with pytest.raises(eq.ConfigError, match="no-such-rule"):
        eq.diagnose(in_rounds, limits={"no-such-rule": {"low": 1.0}})


@pytest.mark.parametrize("target", [3, {"step": [0]}, None])
def test_what_is_neither_run_nor_table(target: object) -> None:
    with pytest.raises(eq.ConfigError, match="expected a run, a file, or a frame"):
        eq.diagnose(target)  # type: ignore[arg-type]


def test_a_frame_without_the_columns() -> None:
    with pytest.raises(eq.DataError, match="no column name, value"):
        eq.diagnose(pl.DataFrame({"step": [0]}))


def test_a_run_that_is_not_there(in_rounds: eq.RunHandle) -> None:
    with pytest.raises(eq.NoSuchRun):
        eq.diagnose("nobody-000000", store=in_rounds.store)
