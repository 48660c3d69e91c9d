from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from equipoise.config.loader import flat, load
from equipoise.core.errors import ConfigError
from equipoise.core.values import Event
from equipoise.diagnose.examine import examine, live, ranked
from equipoise.diagnose.finding import Finding
from equipoise.diagnose.limits import limits
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.rule import RULES
from equipoise.diagnose.words import healing, labels
from tests.unit.diagnose.runs import run_of
from tests.unit.diagnose.test_rules import CASES

COLLAPSE = run_of(
    {"lam": [2.0**t for t in range(10)]},
    {"accuracy/merged": [0.3, 0.4, 0.44, 0.44, 0.43, 0.40, 0.36, 0.31, 0.26, 0.22], "accuracy/clients": [0.2] * 10},
)


def finding(code: str, severity: str) -> Finding:
    return Finding(code, severity, [], [], [], "", "", "", "")  # type: ignore[arg-type]


def test_a_cause_comes_before_its_symptom_and_the_symptom_is_told() -> None:
    verdict = examine(COLLAPSE)
    assert [each.code for each in verdict.findings] == ["lambda-runaway", "ensemble-collapse", "peak-then-collapse"]
    assert verdict.findings[0].because == []
    assert verdict.findings[1].because == ["lambda-runaway"]
    assert verdict.findings[2].because == ["ensemble-collapse", "lambda-runaway"]


def test_a_mild_cause_of_a_severe_symptom_comes_first() -> None:
    order = ranked([finding("ensemble-collapse", "error"), finding("client-outlier", "warning")])
    assert [each.code for each in order] == ["client-outlier", "ensemble-collapse"]


def test_what_has_nothing_to_do_with_each_other_goes_by_severity() -> None:
    order = ranked(
        [finding("class-blind", "note"), finding("sigma-unstable", "warning"), finding("non-finite", "error")]
    )
    assert [each.code for each in order] == ["non-finite", "sigma-unstable", "class-blind"]


def test_a_rule_without_its_inputs_is_not_examined_and_says_what_it_lacks() -> None:
    verdict = examine(run_of({"lam": [1.0, 1.0]}))
    assert verdict.not_examined["bound-exceeded"] == ["fact:lam_max"]
    assert verdict.not_examined["schedule-fights-learner"] == ["schedule"]
    assert "lambda-runaway" in verdict.passed
    everything = {*verdict.not_examined, *verdict.passed, *(each.code for each in verdict.findings)}
    assert everything == {entry.name for entry in RULES if entry.make.is_asked(of_table=False)}


def settings_of(preset: str, *overrides: str) -> dict[str, Any]:
    return flat(load(preset, overrides).config.model_dump())


def test_advice_leaves_out_what_the_run_is_set_to_already() -> None:
    starved = {"branch/visual/grad": [1.0] * 4, "branch/visual/share": [0.01] * 4}
    for fusion, override in {"gate": "model.fusion=zero", "zero": ""}.items():
        (finding,) = examine(run_of(starved, settings=settings_of("rec/feddmmr", f"model.fusion={fusion}"))).findings
        assert finding.override == override
    growing = {"lam": [2.0**t for t in range(10)]}
    (finding,) = examine(
        run_of(growing, settings=settings_of("etf-align", "balance=v12", "method.start=anchor"))
    ).findings
    assert finding.override == "balance=equilibrium"  # of two settings, the one that is left


BELOW = {
    "accuracy/merged": [0.3],
    "accuracy/best_client": [0.31],
    "accuracy/probe": [0.5],
    "accuracy/validation": [0.3],
}
BESIDE = {"energy-gate": 0.293, "common-gate": 0.975, "statistics-exchange": 0.99}
OWN = {"accuracy/validation": [0.3]}
SERVERS = BELOW | OWN | {f"accuracy/validation/{name}": [value] for name, value in BESIDE.items()}


def test_diagnosis_advises_the_server_that_is_best_on_validation() -> None:
    one_shot = run_of(server=SERVERS, communication="one-shot", settings=settings_of("fafi"))
    (finding,) = [each for each in examine(one_shot).findings if each.code == "merge-below-client"]
    assert finding.override == "server.predict=common-gate"
    assert "`equipoise fuse by-hand --predict common-gate`" in finding.remedy


def test_diagnosis_does_not_advise_what_is_refused() -> None:
    """FedAvg in rounds keeps no models to fuse and has no prototypes to merge."""
    blind = {f"recall/{c}": [float(c > 0)] for c in range(10)}
    rounds = run_of(server=SERVERS | blind, communication="rounds", settings=settings_of("fedavg"))
    advice = {each.code: (each.remedy, each.override) for each in examine(rounds).findings}
    assert {"merge-below-client", "class-blind"} <= advice.keys()
    assert not any("equipoise fuse" in text for text, _ in advice.values())
    assert {settings for _, settings in advice.values()} == {"server.predict=common-gate"}
    unscored = run_of(server=blind, settings=settings_of("fedavg", "evaluate.beside=never"))
    (finding,) = examine(unscored).findings
    assert finding.override == "evaluate.beside=last"


def test_no_server_is_advised_that_validation_likes_less() -> None:
    worse = BELOW | OWN | {"accuracy/validation/energy-gate": [0.2]}
    run = run_of(server=worse, communication="one-shot", settings=settings_of("fafi"))
    (finding,) = [each for each in examine(run).findings if each.code == "merge-below-client"]
    assert finding.override == ""


def test_a_healed_run_is_not_called_healthy() -> None:
    """What the guard saw at the third checkpoint is gone at the end, and stays in the verdict all the same."""
    lam = [1.0, 3.0, 9.0, *[1.0] * 7]
    changes = {"balance.ceiling": 1.0, "server.predict": "common-gate"}
    healed = Event("guard-healed", "λ", 2, detail={"code": "lambda-runaway", "changes": changes})
    run = run_of({"lam": lam, "loss/align": [0.9**t for t in range(10)]})
    assert "lambda-runaway" in examine(run).passed
    verdict = examine(replace(run, events=[healed]))
    (finding,) = verdict.findings
    assert (finding.code, finding.severity) == ("lambda-runaway", "error")
    assert finding.healed == {"step": 2, "changes": changes}
    assert "lambda-runaway" not in verdict.passed
    expected = "healed at checkpoint 3: from there on balance.ceiling=1 server.predict=common-gate"
    assert healing(finding.healed, labels("en")) == expected


def test_an_empty_recording_passes_nothing() -> None:
    verdict = examine(Recording("nothing", {}))
    assert verdict.passed == []
    assert verdict.findings == []


def test_steps_are_the_first_and_the_last_at_which_it_shows() -> None:
    (found,) = [each for each in examine(COLLAPSE).findings if each.code == "lambda-runaway"]
    assert list(found.steps) == [2, 9]
    assert found.clients == [0]
    assert "checkpoints 3 to 10" in found.saw


def test_live_asks_only_what_can_be_known_before_the_end() -> None:
    assert "peak-then-collapse" not in [each.code for each in live(COLLAPSE)]
    assert "lambda-runaway" in [each.code for each in live(COLLAPSE.until(3))]
    assert live(COLLAPSE.until(1)) == []


def test_limits_can_be_changed_and_mistakes_are_named() -> None:
    assert limits({"lr-cut": {"low": 0.1}})["lr-cut"]["low"] == 0.1
    assert limits({})["lr-cut"]["low"] == RULES.find("lr-cut").make.defaults["low"] == 0.25
    with pytest.raises(ConfigError, match="did you mean 'lr-cut'"):
        limits({"lr-cutt": {"low": 0.1}})
    with pytest.raises(ConfigError, match="did you mean 'low'"):
        limits({"lr-cut": {"lo": 0.1}})


def test_a_changed_limit_changes_the_verdict() -> None:
    run = run_of({"scale/base": [0.2] * 10})
    assert [each.code for each in examine(run).findings] == ["lr-cut"]
    assert examine(run, {"lr-cut": {"low": 0.1}}).findings == []


@pytest.mark.parametrize("entry", list(RULES), ids=lambda entry: entry.name)
def test_every_case_can_be_said_in_both_languages(entry) -> None:
    for run in CASES[entry.name][0]:
        for language in ("en", "zh"):
            (found,) = [each for each in examine(run, language=language).findings if each.code == entry.name]
            assert "{" not in found.saw


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ConfigError, match="no findings in 'fr'"):
        examine(COLLAPSE, language="fr")


@pytest.mark.parametrize("entry", list(RULES), ids=lambda entry: entry.name)
def test_what_is_said_to_follow_is_a_rule(entry) -> None:
    for code in entry.make.explains:
        assert RULES.find(code).name == code


@pytest.mark.parametrize("entry", list(RULES), ids=lambda entry: entry.name)
def test_the_last_remedy_asks_for_no_setting(entry) -> None:
    assert entry.make.remedies[-1].settings == ""
