from __future__ import annotations

import numpy as np

from equipoise.engine.roster import Roster
from equipoise.run.build import build
from tests.conftest import tiny

COUNTS = [[3, 0, 4], [0, 0, 1]]


def test_samples_are_the_sum_of_the_classes():
    roster = Roster(2, lambda client: np.array(COUNTS[client]), lambda client, step: False)
    assert [roster.samples(client) for client in range(2)] == [7, 1]
    assert isinstance(roster.samples(0), int)
    assert roster.is_listed


def test_a_federations_roster_says_what_its_site_knows():
    federation = build(tiny())
    roster, site = federation.roster, federation.site
    assert roster.n_clients == federation.n_clients == 3
    for client in range(3):
        assert roster.counts(client).tolist() == site.counts(client).tolist()
        assert roster.samples(client) == site.samples(client) == len(site.indices[client])
        assert not roster.is_idle(client, 0)
    assert roster is federation.roster  # made once


def test_clients_that_are_drawn_when_asked_for_are_not_listed():
    assert build(tiny()).roster.is_listed
    assert not build(tiny("partition=drawn", "partition.clients=5000", "data.limit=400")).roster.is_listed


def test_nothing_in_it_leads_to_a_clients_data():
    assert set(Roster.__dataclass_fields__) == {"n_clients", "counts", "is_idle", "is_listed"}
