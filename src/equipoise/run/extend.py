"""Extends a finished or stopped run by more rounds: its new configuration, and the event that records it.

    rounds=40     forty rounds in all
    rounds="+20"  twenty more than the run has

The state, the recorded numbers and the draws of cohorts continue where they were. Whatever depends on the progress p
of the whole run, such as a schedule of λ, uses p over the new number of rounds from there on: a run that was at p = 1
after its 10 rounds is at p = 0.5 of 20. Without schedules, 10 rounds and 10 more equal 20 rounds to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from equipoise.config.check import check
from equipoise.config.schema import Config
from equipoise.core.errors import ConfigError, Problem
from equipoise.core.values import Event
from equipoise.store import read
from equipoise.store.database import Store
from equipoise.store.records import Run


def extended(run: Run, events: Iterable[Event], rounds: int | str) -> Config:
    """The run's configuration with that many rounds; an impossible request is refused before anything changes."""
    config = check(run.config)
    if config.is_one_shot:
        what = f"run '{run.run_id}' is one-shot: its clients upload once, and there are no rounds to add"
        raise ConfigError([Problem("rounds", what)], fix="start a new run with more client.epochs")
    if any(event.kind == "stopped-early" for event in events):
        what = f"run '{run.run_id}' stopped early: evaluate.patience ended it, and would end it again"
        raise ConfigError([Problem("rounds", what)], fix="start a new run without evaluate.patience")
    total = _total(config.steps, rounds)
    if total <= config.steps:
        what = f"run '{run.run_id}' has {config.steps} rounds already, asked for {total} in all"
        raise ConfigError([Problem("rounds", what)], fix=f"a larger number, or as many more: +{config.steps}")
    return check({**run.config, "rounds": total})


def _total(before: int, rounds: int | str) -> int:
    text = str(rounds).strip()
    more = text.removeprefix("+")
    if not (more.isascii() and more.isdecimal()) or isinstance(rounds, bool):
        what = f"expected a number of rounds such as 40, or +20 for twenty more, got {rounds!r}"
        raise ConfigError([Problem("rounds", what)])
    return before + int(more) if text.startswith("+") else int(more)


def lengthened(run: Run, config: Config, environment: Mapping[str, Any]) -> Run:
    """The run's record under the longer configuration and in the current environment."""
    return replace(run, config=config.model_dump(), config_hash=config.fingerprint(), environment=environment)


def extension(store: Store, run: Run, config: Config) -> Event:
    """The event that records that a run was extended."""
    before, total = int(run.config["rounds"]), config.steps
    done = max((checkpoint.step + 1 for checkpoint in read.checkpoints(store, run.run_id)), default=0)
    text = f"from {before} to {total} rounds, after round {done}; schedules over the whole run go on at"
    text += f" {done / total:.0%} of {total} rounds, where they were at {done / before:.0%} of {before}"
    left = {"sweep": run.sweep, "cell": run.cell} if run.sweep else {}
    text += f"; no longer cell '{run.cell}' of sweep '{run.sweep}'" if left else ""
    return Event("extended", text, detail={"before": before, "rounds": total, "after": done, **left})
