"""A rule of somebody else's package: one module with its own limits, sentences and remedies, and nothing else."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from equipoise.core.errors import ConfigError
from equipoise.core.values import Event
from equipoise.diagnose import Limit, Remedy, Rule
from equipoise.diagnose.examine import examine
from equipoise.diagnose.limits import limits
from equipoise.diagnose.rule import RULES
from tests.commands import run_here
from tests.unit.diagnose.runs import run_of

MODULE = '''
"""Rules of another package."""

from equipoise.diagnose import Limit, Remedy, Rule, Sign


@Rule(
    "flat-loss",
    severity="warning",
    when=("live",),
    reads=("loss/base",),
    limits=(Limit("drop", 0.1, "relative fall of the loss below which it is flat"),),
    says="the loss of {who} fell by {fell:.0%} ({when})",
    cause="the learning rate is too small",
    remedies=(Remedy("a larger learning rate", "client.lr=0.1"), Remedy("train for longer")),
)
def flat_loss(run, limit):
    """A loss that hardly falls.

    (first − last) / first < drop
    """
    for curve in run.clients("loss/base"):
        fell = float(1 - curve.values[-1] / curve.values[0])
        if fell < limit["drop"]:
            yield Sign(curve.client, curve.steps.tolist(), {"fell": fell})


@Rule(
    "broken-rule",
    severity="error",
    when=("live",),
    reads=("loss/base",),
    says="never",
    cause="never",
    remedies=(Remedy("none"),),
)
def broken_rule(run, limit):
    yield Sign(None, [], {"x": limit["no_such_limit"]})
'''
FLAT = run_of({"loss/base": [1.0, 0.95]})


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    RULES.names()
    monkeypatch.setattr(RULES, "_entries", dict(RULES._entries))
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "somebodys_rules.py"
    path.write_text(MODULE, encoding="utf-8")
    importlib.import_module("somebodys_rules")
    yield path
    sys.modules.pop("somebodys_rules", None)


def test_it_is_asked_with_its_own_limit_and_gives_its_own_advice(plugin: Path) -> None:
    found = {each.code: each for each in examine(FLAT).findings}["flat-loss"]
    assert found.saw == "the loss of client 0 fell by 5% (checkpoints 1 to 2)"
    assert (found.remedy, found.override) == ("a larger learning rate", "client.lr=0.1")


def test_its_limit_is_changed_as_any_other(plugin: Path) -> None:
    assert limits({"flat-loss": {"drop": 0.01}})["flat-loss"] == {"drop": 0.01}
    assert "flat-loss" in examine(FLAT, {"flat-loss": {"drop": 0.01}}).passed
    with pytest.raises(ConfigError, match="did you mean 'drop'"):
        limits({"flat-loss": {"dropp": 0.01}})


def test_without_a_translation_it_speaks_english(plugin: Path) -> None:
    found = {each.code: each for each in examine(FLAT, language="zh").findings}["flat-loss"]
    assert found.saw == "the loss of client 0 fell by 5% (checkpoints 1 to 2)"
    assert found.cause == "the learning rate is too small"


def test_the_commands_know_it(plugin: Path, tmp_path: Path) -> None:
    (listed,) = run_here(tmp_path, "rules", "flat-loss", "--json").json
    assert listed["failure"] == "A loss that hardly falls."
    assert listed["signal"] == "(first − last) / first < drop"
    assert listed["limits"] == {"drop": 0.1}
    assert listed["meanings"] == {"drop": "relative fall of the loss below which it is flat"}
    assert listed["remedies"][0] == {"text": "a larger learning rate", "settings": "client.lr=0.1"}
    assert "drop=0.1" in run_here(tmp_path, "rules", "flat-loss").out
    (tmp_path / "run.csv").write_text("step,client,name,value\n0,0,loss/base,1\n1,0,loss/base,0.95\n")
    said = run_here(tmp_path, "diagnose", "run.csv", "--set", "flat-loss.drop=0.2")
    assert "the loss of client 0 fell by 5%" in said.out
    assert "! broken-rule: the rule failed: KeyError" in said.out


def test_a_rule_that_raises_is_not_examined_and_the_others_go_on(plugin: Path) -> None:
    verdict = examine(FLAT)
    line = MODULE.splitlines().index('    yield Sign(None, [], {"x": limit["no_such_limit"]})') + 1
    expected = f"the rule failed: KeyError: 'no_such_limit' ({plugin}, line {line})"
    assert verdict.faults == {"broken-rule": expected}
    assert verdict.not_examined["broken-rule"] == [expected]
    assert "flat-loss" in [each.code for each in verdict.findings]
    assert {"code": "broken-rule", "missing": [expected]} in verdict.to_json()["not_examined"]


def test_what_its_guard_healed_is_still_said_where_the_plugin_is_not_installed(plugin: Path) -> None:
    (found,) = [each for each in examine(FLAT).findings if each.code == "flat-loss"]
    detail = {"code": "flat-loss", "finding": found.to_json(), "changes": {"client.lr": 0.1}}
    del RULES._entries["flat-loss"]
    verdict = examine(replace(FLAT, events=[Event("guard-healed", "flat", 1, detail=detail)]))
    (healed,) = [each for each in verdict.findings if each.code == "flat-loss"]
    assert healed.saw == found.saw
    assert healed.healed == {"step": 1, "changes": {"client.lr": 0.1}}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"limits": (Limit("a", 1, ""), Limit("a", 2, ""))}, "limit 'a' is declared 2 times"),
        ({"limits": (Limit("a", float("nan"), ""),)}, "limit 'a' has the default nan, which is not a finite number"),
        ({"limits": (Limit("a", "1", ""),)}, "limit 'a' has the default '1', which is not a finite number"),
        ({"remedies": ()}, "remedies must end with a remedy that asks for no setting"),
        ({"remedies": (Remedy("x", "client.lr=1"),)}, "remedies must end with a remedy that asks for no setting"),
        ({"says": ""}, "says is empty"),
    ],
)
def test_a_rule_that_cannot_work_is_refused_when_it_is_declared(changes, problem: str) -> None:
    given = {"severity": "note", "when": ("end",), "reads": (), "says": "x", "cause": "y", "remedies": (Remedy("z"),)}
    with pytest.raises(ConfigError, match="rule 'mine'") as error:
        Rule("mine", **given | changes)(lambda run, limit: [])
    assert problem in str(error.value)
    assert "test_plugin_rule.py, line " in str(error.value)
    assert "mine" not in RULES.names()


def test_a_function_that_takes_something_else_is_refused() -> None:
    rule = Rule("mine", severity="note", when=("end",), reads=(), says="x", cause="y", remedies=(Remedy("z"),))
    with pytest.raises(ConfigError, match=r"its function takes \(run\), and must take \(run, limit\)"):
        rule(lambda run: [])
