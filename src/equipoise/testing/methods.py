"""What every method promises, with rounds and with one-shot communication."""

from __future__ import annotations

from typing import NamedTuple

from equipoise.config.schema import Config
from equipoise.core.codec import decode, encode
from equipoise.core.values import ClientUpdate
from equipoise.engine.local import Local
from equipoise.engine.messages import results_message, results_of
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.checkpoint import pack, unpack
from equipoise.run.loop import federate, first_snapshot
from equipoise.run.state import Record
from equipoise.testing.small import (
    Backwards,
    assert_same,
    assert_same_update,
    communications,
    needs,
    nobody,
    numbers,
    one_shot,
    records,
    tiny,
    untouched_rng,
)


class RunSteps(NamedTuple):
    """A configuration, and all steps of its run."""

    config: Config
    records: list[Record]


def config_of(method: str, communication: str, *overrides: str) -> Config:
    make = tiny if communication == "rounds" else one_shot
    return make(f"method={method}", *needs(method), "evaluate.beside=last", *overrides)


def steps_of(config: Config) -> RunSteps:
    with untouched_rng():
        return RunSteps(config, records(config))


def check_method(name: str, *overrides: str) -> None:
    """Check all promises; `overrides` are settings that the method needs, as `key=value`."""
    for communication in communications(name):
        run = steps_of(config_of(name, communication, *overrides))
        seed_matters(run)
        headline_is_scored(run)
        updates_survive_the_codec(run)
        order_does_not_matter(run)
        resuming_changes_nothing(run)


def seed_matters(run: RunSteps) -> None:
    federation = build(run.config.model_copy(update={"seed": run.config.seed + 1}))
    other = next(federate(federation, Local(federation.site), first_snapshot(federation), 0, nobody))
    assert numbers([other]) != numbers(run.records[:1]), "another seed gives the same numbers"


def headline_is_scored(run: RunSteps) -> None:
    headline = build(run.config).method.headline
    last = {row.name: row.value for row in run.records[-1].rows if row.client is None}
    missing = {headline, "accuracy/validation", "bytes/up"} - last.keys()
    assert not missing, f"not recorded: {sorted(missing)}"
    shares = [row for step in run.records for row in step.rows if row.name.startswith(("accuracy/", "recall/"))]
    wrong = [row for row in shares if not 0 <= row.value <= 1]
    assert shares, "no accuracy and no recall was recorded"
    assert not wrong, f"no share of one: {wrong[:3]}"
    events = [event for step in run.records for event in step.events]
    assert not events, f"something went wrong: {events[:3]}"


def updates_survive_the_codec(run: RunSteps) -> None:
    federation = build(run.config)
    for result in Local(federation.site).map(plan(federation, run.records[0].snapshot, 1)):
        assert isinstance(result, ClientUpdate), f"a client failed: {result}"
        (back,) = results_of(decode(encode(*results_message([result]))))
        assert isinstance(back, ClientUpdate)
        assert_same_update(back, result)


def order_does_not_matter(run: RunSteps) -> None:
    """The same seed gives the same numbers, whoever answers first."""
    federation = build(run.config)
    backwards = list(federate(federation, Backwards(federation.site), first_snapshot(federation), 0, nobody))
    assert numbers(backwards) == numbers(run.records), "numbers depend on which client answers first"
    for ours, theirs in zip(backwards, run.records, strict=True):
        assert_same(ours.snapshot.server.model, theirs.snapshot.server.model)
        assert_same(ours.snapshot.server.memory, theirs.snapshot.server.memory)
        assert_same(ours.snapshot.broadcast, theirs.snapshot.broadcast)


def resuming_changes_nothing(run: RunSteps) -> None:
    """Going on from a checkpoint is never having stopped."""
    federation = build(run.config)
    again = unpack(pack(run.records[0].snapshot))
    rest = numbers(list(federate(federation, Local(federation.site), again, 1, nobody)))
    whole = {key: value for key, value in numbers(run.records).items() if key[0] > 0}
    assert rest == whole, "a resumed run has other numbers: keep state in ServerState.memory, or in what clients keep"
