"""More rounds for a run: the same bits as a long run, where nothing depends on how long a run is."""

from __future__ import annotations

from typing import Any

import pytest

from equipoise.config.loader import Request
from equipoise.config.schema import Config
from equipoise.core.codec import decode
from equipoise.core.errors import ConfigError
from equipoise.run.announce import Membership
from equipoise.run.session import resume, start
from equipoise.run.watch import Nobody
from equipoise.store import blobs, read, write
from equipoise.store.database import Store
from tests.conftest import assert_same, one_shot, tiny

from .conftest import Breaks

CONFIGS = {
    "a cohort drawn anew each round": ("method=fedavg", "server.fraction=0.67"),
    "a server's momentum": ("method=fedavgm",),
    "clients that keep their own": ("method=local-only",),
    "a learned policy": ("method=etf-align", "balance=decoupled", "balance.schedule=none"),
}


def longer(*settings: str, rounds: int) -> Config:
    return tiny(*settings, f"rounds={rounds}")


def trained(store: Store, config: Config, member: Membership | None = None) -> str:
    return start(store, Request(config, None), Nobody(), *([member] if member else []))


def numbers(store: Store, run_id: str) -> dict[tuple[int, int | None, str], float]:
    return {(row.step, row.client, row.name): row.value for row in read.rows(store, run_id) if row.name != "seconds"}


def server(store: Store, run_id: str) -> Any:
    return decode(blobs.get(store, read.checkpoints(store, run_id)[0].manifest["server"]))[1]


@pytest.mark.parametrize("settings", CONFIGS.values(), ids=CONFIGS)
def test_two_rounds_and_two_more_are_four_to_the_last_bit(store: Store, settings: tuple[str, ...]) -> None:
    short, long = (trained(store, longer(*settings, rounds=n)) for n in (2, 4))
    resume(store, read.find_run(store, short), Nobody(), rounds="+2")
    ours, theirs = numbers(store, short), numbers(store, long)
    assert {key: ours[key] for key in theirs} == theirs
    assert {step for step, _, _ in ours.keys() - theirs.keys()} <= {1}, "only the former end was scored in full"
    assert_same(server(store, short), server(store, long))


def test_an_extended_run_is_the_longer_run_in_the_store(store: Store) -> None:
    short, long = (trained(store, longer(rounds=n)) for n in (1, 3))
    resume(store, read.find_run(store, short), Nobody(), rounds=3)
    ours, theirs = read.find_run(store, short), read.find_run(store, long)
    assert (ours.status, ours.config, ours.config_hash) == ("done", theirs.config, theirs.config_hash)
    (event,) = [seen.event for seen in read.events(store, short) if seen.event.kind == "extended"]
    assert event.detail == {"before": 1, "rounds": 3, "after": 1}
    assert "33% of 3 rounds, where they were at 100% of 1" in event.message


def test_a_schedule_goes_on_over_the_new_number_of_rounds(store: Store) -> None:
    """λ of `curriculum` is the progress p: above 1/2 in round two of two, 1/2 when round three of four begins."""
    settings = ("method=etf-align", "balance=curriculum", "balance.first=0", "balance.last=1")
    run_id = trained(store, longer(*settings, rounds=2))
    resume(store, read.find_run(store, run_id), Nobody(), rounds="+2")
    used = [row.value for row in read.rows(store, run_id, names=["lam/used"], client=0)]
    assert used[1] > 0.5
    assert 0.5 <= used[2] < used[3]
    assert used[2] < used[1], "p is counted over four rounds from the third on"


def test_a_stopped_run_goes_on_to_the_longer_end(store: Store) -> None:
    with pytest.raises(KeyboardInterrupt):
        start(store, Request(longer(rounds=3), None), Breaks(KeyboardInterrupt(), 0))
    run_id, long = read.find_run(store, "latest").run_id, trained(store, longer(rounds=4))
    resume(store, read.find_run(store, run_id), Nobody(), rounds="+1")
    assert numbers(store, run_id) == numbers(store, long)


def test_an_extended_run_is_no_longer_a_cell_of_its_sweep(store: Store) -> None:
    run_id = trained(store, longer(rounds=1), Membership("grid", "A"))
    write.set_members(store, "grid", [("A", run_id)])
    resume(store, read.find_run(store, run_id), Nobody(), rounds=2)
    assert (read.find_run(store, run_id).sweep, read.members(store, "grid")) == (None, [])
    assert "no longer cell 'A' of sweep 'grid'" in " ".join(s.event.message for s in read.events(store, run_id))


@pytest.mark.parametrize(
    ("rounds", "words"),
    [
        (2, "has 2 rounds already, asked for 2 in all"),
        ("1", "has 2 rounds already"),
        ("+0", "has 2 rounds already"),
        ("+", "expected a number of rounds"),
        ("-3", "expected a number of rounds"),
        ("many", "expected a number of rounds"),
        (True, "expected a number of rounds"),
    ],
)
def test_a_number_of_rounds_that_is_none_changes_nothing(store: Store, rounds: int | str, words: str) -> None:
    run_id = trained(store, longer(rounds=2))
    before = read.find_run(store, run_id)
    with pytest.raises(ConfigError, match=words):
        resume(store, before, Nobody(), rounds=rounds)
    assert read.find_run(store, run_id) == before


def test_a_one_shot_run_has_no_rounds_to_add(store: Store) -> None:
    run_id = trained(store, one_shot(epochs=1, checkpoints=1))
    with pytest.raises(ConfigError, match="its clients upload once"):
        resume(store, read.find_run(store, run_id), Nobody(), rounds="+1")
    assert read.find_run(store, run_id).status == "done"


def test_a_run_that_validation_ended_is_not_made_longer(store: Store) -> None:
    run_id = trained(store, longer("evaluate.patience=1", "client.lr=1e-9", rounds=4))
    with pytest.raises(ConfigError, match=r"evaluate\.patience ended it"):
        resume(store, read.find_run(store, run_id), Nobody(), rounds="+4")
