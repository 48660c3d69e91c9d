"""What `equipoise.testing` offers to others holds for our own things."""

from __future__ import annotations

import pytest

from equipoise import testing
from equipoise.core.registry import AGGREGATES, BALANCES, PREDICTS, SPLITTERS, TERMS
from equipoise.partition.users import UsersOptions

LABELLED = [
    entry.name for entry in SPLITTERS if not issubclass(entry.options, UsersOptions) and "own-file" not in entry.traits
]


@pytest.mark.parametrize("name", AGGREGATES.names())
def test_merges(name: str) -> None:
    testing.check_merge(name)


@pytest.mark.parametrize("name", TERMS.names())
def test_terms(name: str) -> None:
    testing.check_term(name)


@pytest.mark.parametrize("name", PREDICTS.names())
def test_predictors(name: str) -> None:
    testing.check_predictor(name)


@pytest.mark.parametrize("name", LABELLED)
def test_splitters(name: str) -> None:
    testing.check_splitter(name)


@pytest.mark.parametrize("name", ["digits", "synthetic"])
def test_datasets(name: str) -> None:
    testing.check_dataset(name)


@pytest.mark.parametrize("name", ["constant", "decoupled-hinge"])
def test_policies(name: str) -> None:
    testing.check_policy(name)


PROCESSES = pytest.param(("processes", "engine.workers=1"), marks=pytest.mark.slow)


@pytest.mark.parametrize("settings", [("local",), PROCESSES])
def test_engines(settings: tuple[str, ...]) -> None:
    testing.check_engine(*settings)


SMALL = ("data.limit=120", "data.test_limit=30", "partition.clients=3", "partition.alpha=1", "model=mlp")
FEW = ("data.users=20", "data.items=60", "data.length=12", "partition=users", "model=sasrec", "model.width=8")


@pytest.mark.parametrize(
    ("kind", "dataset", "settings"),
    [("images", "digits", SMALL), ("tabular", "wine", SMALL), ("interactions", "planted", FEW)],
)
def test_kinds(kind: str, dataset: str, settings: tuple[str, ...]) -> None:
    testing.check_kind(kind, dataset, *settings)


def test_rules() -> None:
    ill, well = ({"hr@10/uni100": [value]} for value in (0.96, 0.94))
    testing.check_rule("too-good", testing.recording_of(server=ill), testing.recording_of(server=well))


def test_there_is_a_check_for_what_a_plugin_can_bring() -> None:
    assert set(testing.__all__) == {
        *(
            f"check_{each}"
            for each in ("method", "policy", "merge", "splitter", "model", "dataset", "rule", "predictor", "term")
        ),
        "check_engine",
        "check_kind",
        "recording_of",
    }
    assert set(BALANCES.names()) >= {"constant", "decoupled-hinge"}
