"""Advice we print is advice we have tried: every remedy is applied to runs that its rule names, and they train."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from equipoise.config.check import check
from equipoise.config.layers import layered
from equipoise.config.loader import flat, flat_overrides, load, nested
from equipoise.config.schema import Config
from equipoise.core.registry import PREDICTS
from equipoise.diagnose.remedy import chosen, is_allowed
from equipoise.diagnose.rule import RULES, Rule
from tests.conftest import records
from tests.unit.diagnose.runs import run_of

FOLDER = Path(__file__).resolve().parents[1] / "data" / "rules"
ALIGNED, RECOMMENDER = "etf-align balance=v12", "rec/feddmmr data.users=20 server.fraction=0.3"
BY_ARITHMETIC = {
    "empty-client": ["fedavg"],
    "forgetting-signal": ["two-stage", "two-stage method=public-bank balance=adaptive"],
    "gradient-conflict": [ALIGNED, "etf-align balance=entropy", "rec/feddmmr balance=v12 data.users=20"],
    "hidden-broadcast": ["fafi"],
    "over-alignment": [ALIGNED, "etf-align balance=entropy"],
    "slow-client": ["fedavg", "fedavg engine=processes engine.workers=1"],
    "test-selection": ["fedavg data.validation=0.2"],
    "uncontrolled-gain": [RECOMMENDER],
}
"""Runs of the rules that no recorded run shows."""
MORE = {
    "class-blind": ["fedavg", "fedavg evaluate.beside=never", "fafi communication=rounds"],
    "merge-below-client": ["fedavg", "etf-align"],
    "peak-then-collapse": ["fedavg", "rec/feddmmr data.users=20"],
    "no-better-than-untrained": ["fedavg", "fedavg evaluate.beside=never"],
    "non-finite": ["fedavg client.clip=1"],
    "interest-drift": ["rec/feddmmr data.users=20 method.weighting=none"],
    "lambda-runaway": ["two-stage method=public-bank balance=v12", "rec/feddmmr data.users=20 balance=v12"],
    "ensemble-collapse": ["one-shot/fedavg"],
    "wasted-stage": ["fedavg 'client.stages=[{rounds: 1, groups: [encoder]}]' rounds=2"],
}
"""Further runs, which cannot take the first remedy or have it already."""
SMALL = ("data.limit=150", "model=mlp", "partition.clients=3")


def commands(code: str) -> list[str]:
    recorded = FOLDER / f"{code}.json"
    fires = json.loads(recorded.read_text(encoding="utf-8"))["fires"]["command"] if recorded.is_file() else ""
    own = [fires.removeprefix("equipoise run ")] if fires else BY_ARITHMETIC.get(code, [])
    return own + MORE.get(code, [])


def advice(rule: Rule, command: str) -> str:
    """The settings that a run of that command would be told to append."""
    preset, *settings = shlex.split(command)
    config = load(preset, settings).config
    is_beside = config.evaluate.beside != "never"
    servers = [entry.name for entry in PREDICTS if is_beside and is_allowed_server(entry.name, config)]
    validation = {f"accuracy/validation/{name}": [0.5] for name in servers}
    run = run_of(
        server={"accuracy/validation": [0.1], **validation},
        settings=flat(config.model_dump()),
        communication=config.communication,
    )
    return chosen(rule.remedies, [each.text for each in rule.remedies], run).settings


def is_allowed_server(name: str, config: Config) -> bool:
    return is_allowed([f"server.predict={name}"], flat(config.model_dump()))


WITH_SETTINGS = [entry.make for entry in RULES if any(each.settings for each in entry.make.remedies)]


def test_every_rule_with_settings_has_a_run() -> None:
    assert {rule.code for rule in WITH_SETTINGS} == {rule.code for rule in WITH_SETTINGS if commands(rule.code)}


@pytest.mark.parametrize("rule", WITH_SETTINGS, ids=lambda rule: rule.code)
def test_every_remedy_is_advised_to_some_run(rule: Rule) -> None:
    """Otherwise it stands in a list and helps nobody."""
    given = [advice(rule, command) for command in commands(rule.code)]
    for remedy in rule.remedies:
        keys = [word.partition("=")[0] for word in remedy.settings.split()]
        assert not keys or any(all(key in settings for key in keys[:1]) for settings in given), (remedy, given)


def tried() -> dict[tuple[str, str], str]:
    """(command, settings) → a rule that advises them."""
    found = {}
    for rule in WITH_SETTINGS:
        for command in commands(rule.code):
            settings = advice(rule, command)
            if settings:
                found[command, settings] = rule.code
    return found


@pytest.mark.parametrize(("command", "settings"), tried(), ids=lambda text: text)
def test_a_run_takes_the_advice_and_trains(command: str, settings: str) -> None:
    preset, *given = shlex.split(command)
    before = flat(load(preset, given).config.model_dump())
    small = {} if before["data.name"] == "planted" else flat_overrides(SMALL)
    after = layered(layered(before, small), flat_overrides(settings.split()))
    after = layered(after, shorter(check(nested(after))))
    steps = records(check(nested(after)))
    assert steps
    assert all(event.kind != "failed" for record in steps for event in record.events)


def shorter(config: Config) -> dict[str, Any]:
    """Two checkpoints and one worker at most; a stream has as many rounds as it has slices."""
    workers = {"engine.workers": 1} if config.engine.name == "processes" else {}
    if config.is_one_shot:
        return {"client.epochs": 2, "checkpoints": 2} | workers
    rounds = {} if getattr(config.data, "split", "") == "slices" else {"rounds": 2}
    return {"client.epochs": 1} | rounds | workers
