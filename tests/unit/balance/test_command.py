"""`equipoise balances`: what it prints of every policy."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.core.registry import BALANCES

KEYS = {"name", "aliases", "summary", "formula", "parameters", "fixed_point", "status", "package"}


@pytest.fixture(scope="module")
def listed() -> dict[str, dict]:
    result = CliRunner().invoke(app, ["balances", "--json"], catch_exceptions=False)
    return {entry["name"]: entry for entry in json.loads(result.stdout)}


def test_every_policy_with_every_key(listed):
    assert set(listed) == set(BALANCES.names())
    for entry in listed.values():
        assert set(entry) == KEYS
        assert entry["formula"].startswith("network")
        assert entry["fixed_point"]
        assert entry["status"].startswith(("works", "fails"))
        assert len(entry["status"]) > len("works."), "and why"
        assert "Status" not in entry["status"]


def test_the_names_of_the_reports_are_understood(listed):
    aliases = {alias: entry["name"] for entry in listed.values() for alias in entry["aliases"]}
    assert aliases.items() >= {
        "v4": "none", "v7-fixed": "constant", "v7": "annealed", "v8": "progressive", "v9": "entropy",
        "v10": "uncertainty",
        "v11": "uncertainty-annealed", "v12": "decoupled", "v12-svhn": "decoupled-data-annealed",
        "v13": "decoupled-floor", "v14": "decoupled-hinge", "ours": "equilibrium",
    }.items()  # fmt: skip


def test_parameters_are_the_defaults(listed):
    assert listed["none"]["parameters"] == {}
    assert listed["constant"]["parameters"] == {"lam": 5.0}
    assert listed["decoupled-floor"]["parameters"] == {
        "schedule": "linear",
        "ceiling": None,
        "sigma": {"lr": 0.005, "momentum": 0.9, "clip": "none", "start": "entropy"},
        "gamma": 0.001,
    }


def test_the_fixed_point_is_the_formulas_line(listed):
    assert listed["decoupled"]["fixed_point"] == "L_b / L_a → ∞ as L_a → 0"
    assert listed["none"]["fixed_point"] == "0"


def test_for_people():
    result = CliRunner().invoke(app, ["balances"], catch_exceptions=False, env={"COLUMNS": "200"})
    text = result.stdout
    assert "decoupled-hinge (v14, aurora)" in text
    assert "balance.sigma.start=entropy" in text
    assert "balance.lam=5.0" in text
    assert "L_b + sg(λ)·L_a" in text
