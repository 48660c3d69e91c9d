from __future__ import annotations

import pytest

from equipoise.core.errors import ConfigError
from equipoise.core.values import Row
from equipoise.store.database import Store
from equipoise.store.read import find_run
from equipoise.store.records import Run
from equipoise.store.validation import validation_curve, validation_score
from equipoise.store.write import commit_step, create_run

from .conftest import a_run


def recorded(store: Store, headline: str, choice: str | None, **columns: list[float]) -> Run:
    """A run with these metrics of the server, one value per checkpoint."""
    create_run(store, a_run(headline=headline, environment={"choice": choice}))
    for step in range(3):
        rows = [Row(step, step, None, name, values[step]) for name, values in columns.items()]
        commit_step(store, "fedavg-000001", step, rows, [], {})
    return find_run(store, "fedavg-000001")


def test_the_last_checkpoint_counts_where_the_last_state_is_kept(store: Store) -> None:
    columns = {"accuracy/validation": [0.5, 0.7, 0.6], "accuracy/merged": [0.9, 0.1, 0.1]}
    run = recorded(store, "accuracy/merged", None, **columns)
    assert validation_curve(store, run) == {0: 0.5, 1: 0.7, 2: 0.6}
    assert validation_score(store, run) == 0.6


def test_the_checkpoint_that_the_run_chose_counts_where_it_keeps_the_best(store: Store) -> None:
    columns = {"hr@10/full/validation": [0.5, 0.4, 0.7], "ndcg@10/full/validation": [0.2, 0.3, 0.3]}
    run = recorded(store, "hr@10/full", "ndcg@10/full/validation", **columns)
    assert validation_score(store, run) == 0.4, "the first of the best by its choice"


@pytest.mark.parametrize(
    "columns", [{"accuracy/merged": [0.5, 0.5, 0.5]}, {"accuracy/validation": [0.5, 0.5, float("nan")]}]
)
def test_a_run_without_a_figure_of_validation_has_no_score(store: Store, columns: dict[str, list[float]]) -> None:
    with pytest.raises(ConfigError, match="accuracy/validation"):
        validation_score(store, recorded(store, "accuracy/merged", None, **columns))
