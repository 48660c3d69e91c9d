"""Asks every rule and ranks the findings.

    rank = the highest severity among a finding and the findings that it explains; on ties causes precede symptoms

A rule whose inputs were not recorded is "not examined", never "passed". A plugin's rule that raises an error is not
examined either, and the verdict names the error; the other rules go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from traceback import extract_tb

import numpy as np

from equipoise.diagnose.finding import SEVERITIES, Finding, Sign, Verdict
from equipoise.diagnose.limits import limits
from equipoise.diagnose.recording import Recording
from equipoise.diagnose.remedy import chosen
from equipoise.diagnose.rule import RULES, Limits, Rule, place_of
from equipoise.diagnose.words import RuleWords, words_of

HEALED = "guard-healed"
"""The event of a guard that changed settings because of a finding."""
SHOWN = 8
"""Rows of evidence that a finding keeps."""
Changes = Mapping[str, Mapping[str, float]]


def examine(run: Recording, changes: Changes | None = None, language: str = "en") -> Verdict:
    """Asks all rules about a run or a comparison; adds what a guard healed during the run."""
    rules = [entry.make for entry in RULES if entry.make.is_asked(of_table=bool(run.table))]
    table = limits(changes or {})
    return with_healed(run, verdict(run, rules, table, language), table, language)


def live(run: Recording, changes: Changes | None = None, language: str = "en") -> list[Finding]:
    """The findings during a run, by the rules that need not see its end."""
    rules = [entry.make for entry in RULES if {"start", "live"} & set(entry.make.when)]
    return list(verdict(run, rules, limits(changes or {}), language).findings)


def verdict(run: Recording, rules: Iterable[Rule], table: Changes, language: str) -> Verdict:
    """Asks these rules; `table` holds the limits of each."""
    found: list[Finding] = []
    missing: dict[str, list[str]] = {}
    faults, passed = {}, []
    finite = run.finite()
    for rule in rules:
        seen = run if rule.sees_all else finite
        if lacking := rule.missing(seen):
            missing[rule.code] = lacking
            continue
        try:
            made = asked(rule, seen, table[rule.code], language)
        except Exception as error:  # a plugin's faulty rule must not take the other rules down
            if rule.is_ours:
                raise
            faults[rule.code] = fault(rule, error)
            missing[rule.code] = [faults[rule.code]]
            continue
        if made is None:
            passed.append(rule.code)
        else:
            found.append(made)
    return Verdict(ranked(found), missing, passed, faults)


def asked(rule: Rule, run: Recording, limit: Limits, language: str) -> Finding | None:
    """What one rule finds."""
    with np.errstate(all="ignore"):  # other frameworks' numbers may be of any size
        signs = list(rule.look(run, limit))
    return finding(rule, signs, words_of(rule, language), run) if signs else None


def fault(rule: Rule, error: Exception) -> str:
    """What went wrong inside a plugin's rule, with the line of its file."""
    own = [frame.lineno for frame in extract_tb(error.__traceback__) if place_of(rule.look).startswith(frame.filename)]
    where = f"{place_of(rule.look).rpartition(', line ')[0]}, line {own[-1]}" if own else place_of(rule.look)
    return f"the rule failed: {type(error).__name__}: {error} ({where})"


def with_healed(run: Recording, end: Verdict, table: Changes, language: str) -> Verdict:
    """A failure stays in the verdict after a guard healed it, together with what the guard changed."""
    found = {each.code: each for each in end.findings}
    known = RULES.names()
    for event in run.events:
        if event.kind == HEALED and event.step is not None:
            code = event.detail["code"]
            if code not in known:  # the rule of a plugin that is not loaded: what it found was recorded
                then = [Finding(**event.detail["finding"])]
            else:
                then = list(verdict(run.until(event.step), [RULES.find(code).make], table, language).findings)
            seen = found.get(code) or (then[0] if then else None)
            if seen is not None:
                found[code] = replace(seen, healed={"step": event.step, "changes": event.detail["changes"]})
    passed = [code for code in end.passed if code not in found]
    return Verdict(ranked(list(found.values())), end.not_examined, passed, end.faults)


def finding(rule: Rule, signs: Sequence[Sign], words: RuleWords, run: Recording) -> Finding:
    """One finding from all signs of a rule; the first sign is the strongest."""
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
    """The most severe first, causes before symptoms; every symptom gets the codes of its causes."""
    symptoms_of = {entry.name: entry.make.explains for entry in RULES}
    explained = {each.code: symptoms_of.get(each.code, ()) for each in found}
    named = [
        replace(each, because=sorted(code for code, symptoms in explained.items() if each.code in symptoms))
        for each in found
    ]

    def weight(each: Finding) -> int:
        followers = [other for other in named if each.code in other.because]
        return max(SEVERITIES.index(one.severity) for one in (each, *followers))

    return sorted(named, key=lambda each: (-weight(each), len(each.because), -SEVERITIES.index(each.severity)))
