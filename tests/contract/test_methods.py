"""What every method promises, with rounds and with one-shot communication."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from equipoise.config.schema import Config
from equipoise.core.codec import decode, encode
from equipoise.core.registry import METHODS
from equipoise.core.values import ClientUpdate, Event, Result, Task
from equipoise.engine.local import Local
from equipoise.engine.messages import results_message, results_of
from equipoise.kind.site import Site
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.checkpoint import pack, unpack
from equipoise.run.loop import federate, first_snapshot
from equipoise.run.state import Record
from tests.conftest import (
    assert_same,
    assert_same_update,
    communications,
    for_images,
    needs,
    nobody,
    numbers,
    one_shot,
    records,
    tiny,
    untouched_rng,
)

CASES = [(method, how) for method in for_images(METHODS) for how in communications(method)]


def config_of(method: str, communication: str, *overrides: str) -> Config:
    make = tiny if communication == "rounds" else one_shot
    return make(f"method={method}", *needs(method), "evaluate.beside=last", *overrides)


@pytest.fixture(scope="module", params=CASES, ids=" ".join)
def run(request) -> tuple[Config, list[Record]]:
    """A configuration and all its steps."""
    config = config_of(*request.param)
    with untouched_rng():
        return config, records(config)


def test_another_seed_gives_other_numbers(run):
    config, steps = run
    federation = build(config.model_copy(update={"seed": config.seed + 1}))
    other = next(federate(federation, Local(federation.site), first_snapshot(federation), 0, nobody))
    assert numbers([other]) != numbers(steps[:1])


def test_the_headline_is_scored_and_every_share_is_a_share(run):
    config, steps = run
    headline = build(config).method.headline
    last = {row.name: row.value for row in steps[-1].rows if row.client is None}
    assert {headline, "accuracy/validation", "bytes/up"} <= last.keys()
    shares = [row.value for step in steps for row in step.rows if row.name.startswith(("accuracy/", "recall/"))]
    assert shares
    assert all(0 <= share <= 1 for share in shares)
    assert all(step.events == [] for step in steps)


def test_an_update_survives_the_codec(run):
    federation = build(run[0])
    for result in Local(federation.site).map(plan(federation, run[1][0].snapshot, 1)):
        assert isinstance(result, ClientUpdate)
        (back,) = results_of(decode(encode(*results_message([result]))))
        assert isinstance(back, ClientUpdate)
        assert_same_update(back, result)


class Backwards:
    """The local engine, whose last client answers first."""

    def __init__(self, site: Site) -> None:
        self.local = Local(site)

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        return reversed(list(self.local.map(tasks)))

    def take_events(self) -> list[Event]:
        return []

    def close(self) -> None:
        pass


def test_the_same_seed_gives_the_same_numbers_whoever_answers_first(run):
    config, steps = run
    federation = build(config)
    backwards = list(federate(federation, Backwards(federation.site), first_snapshot(federation), 0, nobody))
    assert numbers(backwards) == numbers(steps)
    for ours, theirs in zip(backwards, steps, strict=True):
        assert_same(ours.snapshot.server.model, theirs.snapshot.server.model)
        assert_same(ours.snapshot.server.memory, theirs.snapshot.server.memory)
        assert_same(ours.snapshot.broadcast, theirs.snapshot.broadcast)


def test_a_run_put_down_after_its_first_step_goes_on_to_the_same_numbers(run):
    config, steps = run
    federation, first = build(config), unpack(pack(steps[0].snapshot))
    rest = list(federate(federation, Local(federation.site), first, 1, nobody))
    assert numbers(rest) == numbers(steps[1:])
    assert_same(rest[-1].snapshot.server.model, steps[-1].snapshot.server.model)


BY_PROCESSES = [(method, communications(method)[-1]) for method in for_images(METHODS)]
QUICK = {("memory-bank", "one-shot"), ("scaffold", "rounds")}
"""Clients with a memory, and a server that sends something beside the model; that every method's updates survive the
way is tested above."""


@pytest.mark.parametrize(
    ("method", "communication"),
    [pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow) for case in BY_PROCESSES],
)
def test_processes_give_the_numbers_of_this_process(method, communication):
    there = records(config_of(method, communication, "engine=processes", "engine.workers=1"))
    here = records(config_of(method, communication))
    assert numbers(there) == numbers(here)
    assert_same(there[-1].snapshot.server.model, here[-1].snapshot.server.model)


def test_the_quick_cases_are_among_all():
    assert set(BY_PROCESSES) > QUICK
