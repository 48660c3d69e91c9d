"""What every kind of data promises: one record, whose members fit together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from equipoise.config.kinds import fits_kind, kind_of
from equipoise.config.loader import load
from equipoise.config.schema import Config
from equipoise.config.traits import LABELS, OPEN_LAMBDA
from equipoise.core.registry import KINDS, METHODS
from equipoise.engine.node import Node
from equipoise.kind.check import examine
from equipoise.kind.record import Kind, load_path
from equipoise.run.advance import plan
from equipoise.run.build import build
from equipoise.run.loop import first_snapshot
from equipoise.testing.small import assert_same_update, numbers, records, untouched_rng

CALLED = ("build", "site", "plain_loss", "content", "content_key", "describe", "show")
"""Members that every kind has."""
OF_LABELS = ("inputs", "common_encoder")
"""Members of kinds whose samples have a label."""


def check_kind(name: str, dataset: str, *overrides: str, folder: Path | None = None) -> None:
    """Check the record, and train on a set of that kind; `overrides` are settings, `folder` holds the set's files."""
    kind: Kind = KINDS.find(name).make
    members_are_where_they_say(kind)
    defaults_fit(kind)
    assert kind_of(dataset) is kind, f"data '{dataset}' is of kind '{kind_of(dataset).name}', not '{kind.name}'"
    for method in (kind.defaults["method"], kind.aligned):
        config = load("fedavg", [f"data={dataset}", f"method={method}", "rounds=2", "client.epochs=1", *overrides])
        a_run_repeats(config.config, folder)
        nodes_need_only_what_is_shared(config.config, folder)
    content_is_a_fact(config.config, folder)
    the_set_is_described(kind, dataset, folder)


def members_are_where_they_say(kind: Kind) -> None:
    needed = [*CALLED, *(OF_LABELS if LABELS in kind.offers else ())]
    for member in needed:
        assert getattr(kind, member), f"the record has no '{member}'"
        assert callable(kind.load(member)), f"'{member}' is {getattr(kind, member)}, which cannot be called"
    assert kind.load("unpublished") is not None, "'unpublished' is None"
    for path in kind.figures:
        assert callable(load_path(path)), f"the figure {path} cannot be called"
    assert hasattr(kind.load("site"), "of_shared"), "the class of sites has no 'of_shared'"


def defaults_fit(kind: Kind) -> None:
    """The names that a kind gives for omitted blocks suit it."""
    assert kind.defaults.keys() == {"partition", "model", "method"}, f"defaults of {sorted(kind.defaults)}"
    for key, chosen in (*kind.defaults.items(), ("method", kind.aligned)):
        assert fits_kind(key, chosen, kind), f"{key} '{chosen}' asks for more than {sorted(kind.offers)}"
    assert OPEN_LAMBDA in METHODS.find(kind.aligned).traits, f"method '{kind.aligned}' leaves no λ to a policy"


def a_run_repeats(config: Config, folder: Path | None) -> None:
    with untouched_rng():
        first, again = (records(build(config, folder)) for _ in range(2))
    assert numbers(first) == numbers(again), "the same configuration gives other numbers"


def nodes_need_only_what_is_shared(config: Config, folder: Path | None) -> None:
    """A site made from arrays and facts, as another machine gets them, trains to the same bits."""
    federation = build(config, folder)
    arrays, facts = federation.site.shared()
    away = Node.open(json.loads(json.dumps(config.model_dump())), arrays, json.loads(json.dumps(facts)))
    task = plan(federation, first_snapshot(federation), 0)[0]
    (there,), (here,) = (node.work([task]) for node in (away, Node(federation.site)))
    assert_same_update(_update(there), _update(here))


def _update(result: Any) -> Any:
    assert hasattr(result, "model"), f"a client failed: {result}"
    return result


def content_is_a_fact(config: Config, folder: Path | None) -> None:
    content = config.kind.load("content")
    assert content(config, folder) == content(config, folder), "the same data has two hashes"
    other = config.model_copy(update={"seed": config.seed + 1})
    key = config.kind.load("content_key")
    assert key(config) == key(other), "the key of the content depends on the run's seed"


def the_set_is_described(kind: Kind, dataset: str, folder: Path | None) -> None:
    """`equipoise data check` has something to report, as JSON and for people."""
    report = examine(dataset, folder)
    json.dumps(report)
    kind.load("show")(report)
