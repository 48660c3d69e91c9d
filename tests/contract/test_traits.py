"""What a method says of itself without its code being loaded is what its answers say."""

from __future__ import annotations

import pytest

from equipoise.config import traits
from equipoise.core.registry import METHODS, PREDICTS
from equipoise.method.answers import BY_CONFIGURATION
from equipoise.server.means import merge_means


@pytest.mark.parametrize("entry", list(METHODS), ids=lambda entry: entry.name)
def test_traits_of_a_method_are_its_answers(entry) -> None:
    method = entry.make(entry.options())
    said = {
        traits.OPEN_LAMBDA: method.balance is BY_CONFIGURATION,
        traits.PROTOTYPES: method.merge is BY_CONFIGURATION,
        traits.MEANS: method.merge is merge_means,
        traits.POOLS_DATA: method.pools_data,
        traits.MERGES_NOTHING: method.predict is None,
        traits.PUBLIC_POOL: method.teacher is not None,
    }
    assert {trait for trait, is_so in said.items() if is_so} == entry.traits & said.keys()


def test_a_declared_thing_is_where_it_says() -> None:
    for entry in PREDICTS:
        assert callable(entry.make)
        assert entry.make.__module__ == entry.module
