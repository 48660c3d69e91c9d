from __future__ import annotations

import math

import pytest

import equipoise as eq


def test_a_row_per_configuration(in_rounds: eq.RunHandle, one_upload: eq.RunHandle) -> None:
    compared = eq.compare([in_rounds, one_upload])
    table = compared.table()
    assert table["runs"].to_list() == [[in_rounds.id], [one_upload.id]]
    assert table["final_mean"].to_list() == [in_rounds.value, one_upload.value]
    assert math.isnan(table["final_std"][0])
    assert table["difference_mean"].to_list() == [None, None]
    assert compared.to_json()["against"] == table["configuration"][0]


def test_the_formats_name_the_runs(in_rounds: eq.RunHandle) -> None:
    compared = eq.compare(in_rounds.id, store=in_rounds.store)
    assert compared.to_markdown().startswith("| configuration | n |")
    assert r"\begin{tabular}" in compared.to_latex()
    assert compared.to_csv().splitlines()[1].endswith(in_rounds.id)
    assert str(compared) == compared.to_markdown()


def test_nothing_to_compare(in_rounds: eq.RunHandle) -> None:
    with pytest.raises(eq.ConfigError, match="no run was named"):
        eq.compare([], store=in_rounds.store)
    with pytest.raises(eq.ConfigError, match="has no share 'accuracy/mergd'"):
        eq.compare(in_rounds, metric="accuracy/mergd")


def test_what_is_wrong_with_the_table_is_said(in_rounds: eq.RunHandle, one_upload: eq.RunHandle) -> None:
    codes = [finding.code for finding in eq.compare([in_rounds, one_upload]).findings]
    assert "mixed-protocol" in codes
