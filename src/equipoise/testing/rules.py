"""What every rule promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.diagnose.examine import verdict
from equipoise.diagnose.finding import Finding
from equipoise.diagnose.limits import limits
from equipoise.diagnose.recording import SERVER, Curve, Recording
from equipoise.diagnose.rule import RULES, Rule

Values = Sequence[float]
Curves = Mapping[str, Mapping[int, Values] | Values]


def recording_of(clients: Curves | None = None, server: Mapping[str, Values] | None = None, **facts: Any) -> Recording:
    """A run from {name: values} of client 0, {name: {client: values}}, and the server's {name: values}."""
    curves: dict[str, dict[int, Curve]] = {}
    for name, given in (clients or {}).items():
        for client, values in (given if isinstance(given, Mapping) else {0: given}).items():
            curves.setdefault(name, {})[client] = _curve(values, client)
    for name, values in (server or {}).items():
        curves.setdefault(name, {})[SERVER] = _curve(values, None)
    return Recording("by-hand", curves, facts)


def _curve(values: Values, client: int | None) -> Curve:
    return Curve(client, np.arange(len(values)), np.asarray(values, dtype=float))


def check_rule(code: str, fires: Recording, near: Recording) -> None:
    """Check that the rule fires on one run and not on the near miss; both hold everything that it reads."""
    rule: Rule = RULES.find(code).make
    assert not rule.remedies[-1].settings, "the last remedy must ask for no setting"
    nothing = verdict(Recording("nothing", {}), [rule], limits({}), "en")
    assert not nothing.faults, f"it fails where nothing was recorded: {nothing.faults}"
    finding = asked(rule, fires)
    assert finding is not None, f"'{code}' does not name the run that shows its failure"
    assert finding == asked(rule, fires), f"'{code}' says something else when it is asked again"
    assert asked(rule, near) is None, f"'{code}' names a run that only comes near"


def asked(rule: Rule, run: Recording) -> Finding | None:
    """The rule's finding for a run, in every language; the rule must be able to examine it."""
    found = {language: verdict(run, [rule], limits({}), language) for language in ("en", "zh")}
    for one in found.values():
        assert rule.code not in one.faults, f"'{rule.code}' fails: {one.faults[rule.code]}"
        assert rule.code not in one.not_examined, f"'{rule.code}' lacks {one.not_examined[rule.code]}"
    return next(iter(found["en"].findings), None)
