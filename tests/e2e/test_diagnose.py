from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Equipoise

SMALL = ["data.limit=300"]
TABLE = "run,step,round,client,name,value\n" + "".join(f"mine,{t},{t},3,lam,{2.0**t}\n" for t in range(10))


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "telemetry.csv"
    path.write_text(TABLE)
    return str(path)


def test_a_run_is_diagnosed_when_it_ends_and_again_when_asked(equipoise: Equipoise) -> None:
    document = equipoise("run", "etf-align", "balance=v10", *SMALL, "client.epochs=20", "checkpoints=10", "--json").json
    codes = [finding["code"] for finding in document["findings"]]
    assert codes[0] == "lr-cut"
    again = equipoise("diagnose", document["run_id"], "--json").json
    assert again["findings"] == document["findings"]
    first = again["findings"][0]
    assert set(first) >= {"code", "severity", "clients", "steps", "evidence", "cause", "remedy"}
    assert first["clients"] == [0, 1, 2, 3, 4]
    missing = {each["code"]: each["missing"] for each in again["not_examined"]}
    assert missing["over-alignment"] == ["reference"]
    assert "lambda-runaway" in again["passed"]
    shown = equipoise("show", document["run_id"]).out
    assert "lr-cut" in shown
    text = equipoise("diagnose", document["run_id"], "--lang", "zh").out
    assert "基础损失被乘以" in text


def test_a_run_is_held_against_another(equipoise: Equipoise) -> None:
    settings = (*SMALL, "client.epochs=2", "checkpoints=2")
    one, other = (
        equipoise("run", "etf-align", f"balance={name}", *settings, "--json").json["run_id"] for name in ("v10", "v9")
    )
    verdict = equipoise("diagnose", one, "--against", other, "--json").json
    assert "over-alignment" not in [each["code"] for each in verdict["not_examined"]]


def test_another_frameworks_table(equipoise: Equipoise, table: str) -> None:
    verdict = equipoise("diagnose", table, "--json").json
    assert verdict["run"] == "mine"
    assert [finding["code"] for finding in verdict["findings"]] == ["lambda-runaway"]
    assert equipoise("diagnose", table, "--set", "lam_max=1000", "--json").json["findings"] == []
    assert (
        equipoise("diagnose", table, "--set", "lam_max=100", "--json").json["findings"][0]["code"] == "lambda-runaway"
    )


def test_strict_ends_with_three_when_something_is_found(equipoise: Equipoise, table: str) -> None:
    equipoise("diagnose", table, "--strict", code=3)
    equipoise("diagnose", table, "--strict", "--set", "lam_max=1000")


def test_wrong_requests_are_named(equipoise: Equipoise, table: str) -> None:
    for arguments, words in (
        (["diagnose", "nobody"], "there is no store"),
        (["diagnose", "no-such.csv"], "there is no file"),
        (["diagnose", table, "--set", "lr-cutt.low=1"], "did you mean 'lr-cut'"),
        (["diagnose", table, "--map", "none.yaml"], "cannot be read"),
    ):
        assert words in equipoise(*arguments, code=2).err


def test_rules_say_what_they_read(equipoise: Equipoise) -> None:
    rules = {rule["code"]: rule for rule in equipoise("rules", "--json").json}
    assert rules["bound-exceeded"]["reads"] == ["lam", "fact:lam_max"]
    assert "lambda-runaway" in equipoise("rules").out
