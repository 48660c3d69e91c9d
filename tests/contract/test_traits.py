"""What a method says of itself without its code being loaded is what its answers say."""

from __future__ import annotations

import pytest

from equipoise.config import traits
from equipoise.core.exchanges import needs_second_exchange
from equipoise.core.registry import METHODS, PREDICTS, SUMMARIES
from equipoise.method.answers import BY_CONFIGURATION, by_samples
from equipoise.server.means import merge_means
from equipoise.server.merge import keep


@pytest.mark.parametrize("entry", list(METHODS), ids=lambda entry: entry.name)
def test_traits_of_a_method_are_its_answers(entry) -> None:
    method = entry.make(entry.options())
    said = {
        traits.OPEN_LAMBDA: method.balance is BY_CONFIGURATION,
        traits.PROTOTYPES: method.merge is BY_CONFIGURATION,
        traits.MEANS: method.merge is merge_means,
        traits.OWN_MERGE: method.merge not in (BY_CONFIGURATION, by_samples(), merge_means, keep),
        traits.POOLS_DATA: method.pools_data,
        traits.MERGES_NOTHING: method.predict is None,
        traits.PUBLIC_POOL: method.teacher is not None,
    }
    assert {trait for trait, is_so in said.items() if is_so} == entry.traits & said.keys()


def test_second_exchanges_are_the_same_by_trait_and_for_rooms_that_read_the_store_alone() -> None:
    by_trait = {entry.name for entry in PREDICTS if traits.SECOND_EXCHANGE in entry.traits}
    assert by_trait == {name for name in PREDICTS.names() if needs_second_exchange(name)}
    assert by_trait == {"recalibrated-average", "statistics-exchange", "common-exchange"}
    assert not needs_second_exchange(None)


def test_a_declared_thing_is_where_it_says() -> None:
    for entry in (*PREDICTS, *SUMMARIES):
        assert callable(entry.make)
        assert entry.make.__module__ == entry.module
