from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from equipoise.core.errors import ConfigError, DataError
from equipoise.diagnose.examine import examine
from equipoise.diagnose.foreign import parse_facts, read_names, read_table

RUNAWAY = [("a", t, t, 0, "lam", 2.0**t) for t in range(10)]
COLUMNS = ["run", "step", "round", "client", "name", "value"]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_all_formats_say_the_same(tmp_path: Path) -> None:
    table = pl.DataFrame(RUNAWAY, schema=COLUMNS, orient="row")
    table.write_csv(tmp_path / "t.csv")
    table.write_csv(tmp_path / "t.tsv", separator="\t")
    table.write_ndjson(tmp_path / "t.jsonl")
    table.write_parquet(tmp_path / "t.parquet")
    verdicts = []
    for path in sorted(tmp_path.iterdir()):
        (run,) = read_table(path, {}, {}).runs
        verdicts.append(examine(run).to_json())
    assert [finding["code"] for finding in verdicts[0]["findings"]] == ["lambda-runaway"]
    assert all(verdict == verdicts[0] for verdict in verdicts)


def test_event_files_of_tensorboard_are_read(tmp_path: Path) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path / "mine")) as writer:
        for t in range(10):
            writer.add_scalar("client_3/lam", 2.0**t, t)
            writer.add_scalar("accuracy/merged", 0.5, t)
    (path,) = (tmp_path / "mine").iterdir()
    (run,) = read_table(path, {}, {}).runs
    assert run.name == "mine"
    assert run.of("lam", 3).values.tolist() == [2.0**t for t in range(10)]
    assert len(run.server("accuracy/merged")) == 10


def test_a_table_may_hold_several_runs_and_the_server(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "run,step,client,name,value\na,0,,accuracy/merged,0.5\nb,0,3,lam,1\n")
    a, b = read_table(path, {"classes": 10}, {}).runs
    assert a.server("accuracy/merged").values.tolist() == [0.5]
    assert [c.client for c in b.clients("lam")] == [3]
    assert a.facts["classes"] == 10


def test_short_headers_are_enough_and_case_does_not_matter(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", "Round,Metric,Value\n0,accuracy/merged,0.5\n1,accuracy/merged,0.6\n")
    (run,) = read_table(path, {}, {}).runs
    assert run.name == "mine"
    assert run.server("accuracy/merged").steps.tolist() == [0, 1]


def test_names_are_mapped(tmp_path: Path) -> None:
    names = read_names(write(tmp_path / "map.yaml", "weight: lam\n"))
    path = write(tmp_path / "t.csv", "step,client,name,value\n0,1,weight,2.5\n")
    assert read_table(path, {}, names).runs[0].of("lam", 1).values.tolist() == [2.5]


def test_duplicates_and_empty_rows_are_put_right_and_said(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "step,client,name,value\n0,1,lam,1\n0,1,lam,1\n,,,\n1,1,lam,2\n1,1,lam,3\n")
    table = read_table(path, {}, {})
    assert table.runs[0].of("lam", 1).values.tolist() == [1.0, 3.0]
    assert table.repairs == [
        "1 empty rows left out",
        "2 rows repeat a run, client, name and step; 1 of them with another value: the last stands",
    ]


def test_gaps_stay_gaps_and_nan_is_a_finding(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "step,client,name,value\n0,1,loss/base,1\n7,1,loss/base,nan\n")
    (run,) = read_table(path, {}, {}).runs
    assert run.of("loss/base", 1).steps.tolist() == [0, 7]
    assert examine(run).findings[0].code == "non-finite"


BAD = {
    "no such column": ("t.csv", "a,b\n1,2\n", r"no column name, value, step \(or round\); it has a, b"),
    "text in numbers": (
        "t.csv",
        "step,name,value\n0,lam,1\n1,lam,much\n",
        "line 3 has a value that is not a number: 'much'",
    ),
    "no step": ("t.csv", "step,name,value\n,lam,1\n", "line 2 has no step"),
    "half a step": ("t.csv", "step,name,value\n0.5,lam,1\n", "line 2 has a step that is not a whole number"),
    "a step before the first": ("t.csv", "step,name,value\n-1,lam,1\n", "line 2 has a step that is not a whole number"),
    "no name": ("t.csv", "step,name,value\n0,,1\n", "line 2 has no name"),
    "a client of another kind": ("t.csv", "step,client,name,value\n0,bob,lam,1\n", "line 2 has a client .*: 'bob'"),
    "many bad lines": ("t.csv", "step,name,value\n0,lam,x\n0,lam,y\n", r"line 2 .*\(and 1 more lines\)"),
    "an empty file": ("t.csv", "", "'t.csv' is empty"),
    "a header alone": ("t.csv", "step,name,value\n", "the table has no rows"),
    "not JSON": ("t.jsonl", '{"step":0,"name":"lam","value":1}\nwhat\n', "line 2 is not a JSON object"),
    "not Parquet": ("t.parquet", "PAR", "is not Parquet"),
    "another kind of file": ("t.docx", "x", "not a table that can be read"),
    "a damaged event file": ("events.out.tfevents.1", "nonsense", "no scalars|not an event file"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_malformed_table_is_an_error_that_names_the_line(case: str, tmp_path: Path) -> None:
    name, text, message = BAD[case]
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path / name, text), {}, {})


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"step,name,value\n0,\xff\xfe,1\n")
    with pytest.raises(DataError, match="is not csv"):
        read_table(path, {}, {})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        read_table(tmp_path / "no.csv", {}, {})


def test_facts_and_limits_on_the_command_line() -> None:
    facts, changes = parse_facts(["classes=10", "anchors=etf", "scheduled=true", "lr-cut.low=0.1"])
    assert facts == {"classes": 10, "anchors": "etf", "scheduled": True}
    assert changes == {"lr-cut": {"low": 0.1}}
    with pytest.raises(ConfigError, match="expected name=value"):
        parse_facts(["classes"])
    with pytest.raises(ConfigError, match="expected a number"):
        parse_facts(["lr-cut.low=small"])


def test_a_bad_mapping_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a mapping"):
        read_names(write(tmp_path / "m.yaml", "- a\n- b\n"))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_names(tmp_path / "none.yaml")


@pytest.mark.parametrize("gone", ["nan", "", "NaN", None])
def test_a_late_runaway_and_numbers_that_stopped_are_named_from_the_table_alone(
    tmp_path: Path, gone: str | None
) -> None:
    """Nobody says how many classes there are. λ stands still for 90 checkpoints, doubles six times and is lost, and the
    losses with it: as text, as empty cells, or as rows that are not there. The accuracy is a tenth from then on."""
    lam = [1.0] * 90 + [2.0**k for k in range(1, 7)]
    lines = ["step,client,name,value"]
    for step in range(100):
        is_lost = step >= len(lam)
        for name, value in (("lam", 0.0 if is_lost else lam[step]), ("loss/base", 1.0)):
            if not is_lost:
                lines.append(f"{step},0,{name},{value}")
            elif gone is not None:
                lines.append(f"{step},0,{name},{gone}")
        lines.append(f"{step},,accuracy/merged,{0.1 if is_lost else 0.6}")
    path = write(tmp_path / "t.csv", "\n".join(lines) + "\n")
    (run,) = read_table(path, {}, {}).runs
    codes = {finding.code for finding in examine(run).findings}
    assert {"lambda-runaway", "chance-level"} <= codes
    before = [line for line in lines[1:] if int(line.partition(",")[0]) < 90]
    healthy = write(tmp_path / "h.csv", "\n".join([lines[0], *before]) + "\n")
    (run,) = read_table(healthy, {}, {}).runs
    assert not {"lambda-runaway", "chance-level"} & {finding.code for finding in examine(run).findings}
