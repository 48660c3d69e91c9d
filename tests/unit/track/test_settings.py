"""Settings of any content never reach what computes with settings, and never stop a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import equipoise as eq
from equipoise.config.loader import flat, load
from equipoise.track.settings import is_ours, whole
from tests.unit.track.test_sources import mlruns

pytestmark = pytest.mark.slow

KEYS = sorted({*flat(load("fedavg").config.model_dump()), "data.split", "data.users", "server.sums", "balance.lam_max"})


@pytest.mark.parametrize(
    ("key", "value", "is_so"),
    [
        ("client.lr", 0.1, True),
        ("client.lr", 1, True),
        ("client.lr", float("nan"), False),
        ("client.lr", True, False),
        ("client.optimiser", "sgd", True),
        ("client.optimiser", "lion", False),
        ("client.unheard", 1, False),
        ("balance.sigma.lr", 0.2, True),
        ("method.name", "aurora", False),
        ("plugins", "x", False),
    ],
)
def test_a_setting_is_ours_if_it_has_its_type(key: str, value: Any, is_so: bool) -> None:
    assert is_ours(key, value) is is_so


@pytest.mark.parametrize(("value", "n"), [(3, 3), (True, 0), (-1, 0), (2**31, 0), ("3", 0), (None, 0)])
def test_a_count_or_nothing(value: Any, n: int) -> None:
    assert whole(value) == n


@pytest.mark.parametrize("text", ["nonsense <b>x</b> [/red]", "-1", "nan", "[1, {2: 3}]", "one-shot", "slices", "True"])
def test_whatever_a_tracker_says_of_settings_runs_are_shown_compared_and_reported(tmp_path: Path, text: str) -> None:
    store = tmp_path / "s.db"
    (tmp_path / "own.csv").write_text("step,name,value\n0,accuracy/merged,0.5\n1,accuracy/merged,0.6\n")
    (own,) = eq.import_runs(tmp_path / "own.csv", store=store)
    params = mlruns(tmp_path / "mlruns") / "0" / "abc123" / "params"
    for key in KEYS:
        (params / key).write_text(text)
    (run,) = eq.import_runs(tmp_path / "mlruns", store=store)
    run.show()
    assert len(eq.compare([own, run]).to_json()["rows"]) == 2
    assert run.id in eq.report([own, run], tmp_path / "r.html").read_text(encoding="utf-8")
    assert eq.diagnose(run).name == run.id


def test_names_of_any_content_are_printed_and_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["accuracy/merged/[/b]", "loss/[bold", "[/x]", "<script>alert(1)</script>", "{{7*7}}", "recall/x", "a\\"]
    rows = [f'{step},{client},"{name}",0.5' for name in names for client in ("", "1") for step in (0, 1)]
    (tmp_path / "t.csv").write_text("\n".join(["step,client,name,value", *rows, ""]))
    (run,) = eq.import_runs(tmp_path / "t.csv", name="[/bold] {x} <b>", store=tmp_path / "s.db")
    run.show()
    printed = capsys.readouterr().out
    assert "loss/[bold" in printed
    assert "[/x]" in printed
    assert "<script>alert(1)" not in run.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script>" not in run._repr_html_()
