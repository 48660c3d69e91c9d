"""Ask every rule, rank what is found.

    rank = the severest of a finding and of the findings that it explains; among equals causes come before symptoms

A rule whose inputs are not there is "not examined", never passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from equipoise.core.origin import place_of
from equipoise.diagnose.finding import SEVERITIES, Finding, Sign, Verdict
from equipoise.diagnose.limits import LIMITS, limits
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import chosen
from equipoise.diagnose.rule import RULES, Rule
from equipoise.diagnose.words import Words, words_of

HEALED = "guard-healed"
"""The event of a guard that changed settings because of a finding."""
SHOWN = 8
"""Rows of evidence that are kept of a finding."""
Changes = Mapping[str, Mapping[str, float]]


def examine(run: Recording, changes: Changes | None = None, language: str = "en") -> Verdict:
    """Everything that the rules say of a run, and what a guard healed while it went on."""
    rules = [entry.make for entry in RULES if entry.make.is_asked(of_table=bool(run.table))]
    return with_healed(run, verdict(run, rules, limits(changes or {}), language), limits(changes or {}), language)


def live(run: Recording, changes: Changes | None = None) -> list[Finding]:
    """What can be said while the run goes on: the findings of rules that need not see its end."""
    rules = [entry.make for entry in RULES if {"start", "live"} & set(entry.make.when)]
    return list(verdict(run, rules, limits(changes or {}), "en").findings)


def verdict(run: Recording, rules: Iterable[Rule], table: Changes, language: str) -> Verdict:
    found: list[Finding] = []
    missing: dict[str, list[str]] = {}
    passed = []
    finite = run.finite()
    for rule in rules:
        seen = run if rule.sees_all else finite
        if lacking := rule.missing(seen):
            missing[rule.code] = lacking
            continue
        try:
            one = _asked(rule, seen, table[rule.code], language)
        except Exception as error:
            if not RULES.find(rule.code).package:
                raise
            missing[rule.code] = [f"it failed: {type(error).__name__}: {error} ({place_of(error)})"]
            continue
        if one is None:
            passed.append(rule.code)
        else:
            found.append(one)
    return Verdict(ranked(found), missing, passed)


def _asked(rule: Rule, run: Recording, limit: Mapping[str, float], language: str) -> Finding | None:
    with np.errstate(all="ignore"):  # other frameworks' numbers may be of any size
        signs = list(rule.look(run, limit))
    return finding(rule, signs, words_of(rule, language), run) if signs else None


def with_healed(run: Recording, end: Verdict, table: Changes, language: str) -> Verdict:
    """A failure that was healed stays one: what the guard saw is said again, with what it changed."""
    found = {each.code: each for each in end.findings}
    for event in run.events:
        if event.kind == HEALED and event.step is not None:
            code = event.detail["code"]
            then = verdict(run.until(event.step), [RULES.find(code).make], table, language).findings
            seen = found.get(code) or (then[0] if then else None)
            if seen is not None:
                found[code] = replace(seen, healed={"step": event.step, "changes": event.detail["changes"]})
    return Verdict(ranked(list(found.values())), end.not_examined, [code for code in end.passed if code not in found])


def finding(rule: Rule, signs: Sequence[Sign], words: Words, run: Recording) -> Finding:
    """One finding of all signs of a rule; the first sign is the strongest."""
    clients = sorted({sign.client for sign in signs if sign.client is not None})
    steps = sorted({step for sign in signs for step in sign.steps})
    severities = [sign.severity or rule.severity for sign in signs]
    remedy = chosen(rule.remedies, words.remedies, run)
    numbers = {**signs[0].numbers, "row": signs[0].row, "who": words.who(clients), "when": words.when(steps)}
    return Finding(
        code=rule.code,
        severity=max(severities, key=SEVERITIES.index),
        clients=clients,
        steps=steps[:1] + steps[-1:] if steps else [],
        evidence=[_evidence(sign) for sign in signs[:SHOWN]],
        saw=words.sentence(signs[0].form).format(**numbers),
        cause=words.cause,
        remedy=remedy.text,
        override=remedy.settings,
        rows=list(dict.fromkeys(sign.row for sign in signs if sign.row)),
    )


def _evidence(sign: Sign) -> dict[str, object]:
    steps = sorted({int(step) for step in sign.steps})
    where = {"row": sign.row} if sign.row else {"client": sign.client, "steps": steps[:1] + steps[-1:]}
    return {**where, **sign.numbers}


def ranked(found: Sequence[Finding]) -> list[Finding]:
    """The severest first, and before each what explains it; every symptom is told its causes."""
    explained = {each.code: RULES.find(each.code).make.explains for each in found}
    named = [
        replace(each, because=sorted(code for code, symptoms in explained.items() if each.code in symptoms))
        for each in found
    ]

    def weight(each: Finding) -> int:
        followers = [other for other in named if each.code in other.because]
        return max(SEVERITIES.index(one.severity) for one in (each, *followers))

    return sorted(named, key=lambda each: (-weight(each), len(each.because), -SEVERITIES.index(each.severity)))


__all__ = ["LIMITS", "examine", "finding", "live", "ranked", "verdict"]
