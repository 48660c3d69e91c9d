"""What the studies of the demo must have in common for the stories to be true. `e2e/test_demo.py` tells them."""

from __future__ import annotations

import pytest

from equipoise.api.demo import healing, killing, policies, servers, skew
from equipoise.api.demo.part import CONTROL
from equipoise.run.grid import Cell, load_grid


def cells(study: str) -> dict[str, Cell]:
    return {cell.label: cell for cell in load_grid(study, seeds="1").cells}


def test_policies_differ_in_their_policy_alone() -> None:
    first, *others = cells(policies.STUDY).values()
    free = {"balance", "name"}
    for cell in others:
        same = {*free, "guard"} if cell.label.endswith(policies.GUARDED) else free
        assert cell.config.model_dump(exclude=same) == first.config.model_dump(exclude=same), cell.label


def test_the_guarded_row_is_the_runaway_with_a_guard() -> None:
    found = cells(policies.STUDY)
    plain, guarded = found[healing.POLICY].config, found[healing.POLICY + policies.GUARDED].config
    assert guarded.guard == "heal"
    assert plain.model_dump(exclude={"name", "guard"}) == guarded.model_dump(exclude={"name", "guard"})


def test_servers_use_the_clients_of_a_policy_so_that_nothing_is_trained() -> None:
    trained = cells(policies.STUDY)[killing.POLICY].config.training_fingerprint()
    assert trained is not None
    assert {cell.config.training_fingerprint() for cell in cells(servers.STUDY).values()} == {trained}


@pytest.mark.parametrize("study", [skew.STUDY, servers.STUDY])
def test_there_is_an_untrained_control(study: str) -> None:
    assert any(label.partition(skew.AXIS)[0] == CONTROL for label in cells(study))


def test_the_last_column_is_without_skew() -> None:
    *skewed, last = [cell.config.partition for cell in cells(skew.STUDY).values() if cell.label.startswith("analytic")]
    assert last.name == "iid"
    alphas = [each.model_dump()["alpha"] for each in skewed]
    assert alphas == sorted(alphas)
