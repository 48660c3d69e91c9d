"""What every method promises, with rounds and with one-shot communication."""

from __future__ import annotations

import pytest

from equipoise.core.registry import METHODS
from equipoise.testing import methods
from equipoise.testing.methods import RunSteps, config_of, steps_of
from equipoise.testing.small import communications
from tests.conftest import assert_same, for_images, numbers, records

CASES = [(method, how) for method in for_images(METHODS) for how in communications(method)]


@pytest.fixture(scope="module", params=CASES, ids=" ".join)
def run(request) -> RunSteps:
    return steps_of(config_of(*request.param))


def test_another_seed_gives_other_numbers(run):
    methods.seed_matters(run)


def test_the_headline_is_scored_and_every_share_is_a_share(run):
    methods.headline_is_scored(run)


def test_an_update_survives_the_codec(run):
    methods.updates_survive_the_codec(run)


def test_the_same_seed_gives_the_same_numbers_whoever_answers_first(run):
    methods.order_does_not_matter(run)


def test_a_run_that_goes_on_from_its_checkpoint_is_never_having_stopped(run):
    methods.resuming_changes_nothing(run)


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
