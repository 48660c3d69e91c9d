from __future__ import annotations

from typing import Any

import pytest

from equipoise.cli.ls import _print, nested

LONG = "etf-align-probability-ensemble-zbwcvv"


def line(run_id: str, fused_from: str | None = None, **more: Any) -> dict[str, Any]:
    known = {"status": "done", "method": "etf-align", "data": "fashion-mnist", "seed": 0, "value": 0.4345}
    return {"run_id": run_id, **known, "steps": {"done": 8, "planned": 10}, "metric": "accuracy/merged"} | {
        "fused_from": fused_from,
        **more,
    }


def test_fused_runs_stand_below_the_run_they_are_of() -> None:
    lines = [line("e", "c"), line("c", "a"), line("b"), line("d", "gone"), line("a")]
    assert [(each["run_id"], each.get("is_below", False)) for each in nested(lines)] == [
        ("b", False), ("d", False), ("a", False), ("c", True), ("e", True),
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [80, 66, 120])
def test_no_line_is_folded_and_no_id_is_cut(columns: int, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _print([line("fafi-1"), line(LONG, "fafi-1", is_below=True)])
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 3
    assert all(len(text.rstrip()) <= columns for text in shown)
    assert shown[2].startswith(f"└ {LONG} ")
    assert "43.45 %" in shown[2]
    assert ("fashion-mnist" in shown[1]) == (columns == 120), "columns for which there is no room are left out"
