"""What the reference says of recorded metrics and printed JSON is what a run really gives."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.store import read
from equipoise.store.database import open_store
from tests.docs.documents import DOCS, generator, tables

REFERENCE = generator()
SMALL = ["data.limit=200", "model=mlp", "rounds=2", "partition.clients=3", "client.clip=1.0"]
ALIGNED = ["data.limit=200", "model=mlp", "checkpoints=1", "partition.clients=3", "client.epochs=1"]
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """ask("ls") → the JSON of that command, in a store with a small run, and one of each policy that records more."""
    before = signal.getsignal(signal.SIGTERM)
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("EQUIPOISE_STORE", raising=False)
        patch.delenv("EQUIPOISE_DATA", raising=False)

        def call(*arguments: str) -> Any:
            result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
            assert result.exit_code == 0, result.output
            return json.loads(result.stdout)

        for policy in ("equilibrium", "decoupled-hinge"):
            call("run", "etf-align", *ALIGNED, f"balance={policy}")
        call("run", "rec/feddmmr", "rounds=1", "data.users=20", "model.fusion=disconnected")
        call("run", "rec/feddmmr", "rounds=3", "data.users=20", "data.split=slices", "data.slices=4")
        call("run", "rec/sasrec", "rounds=1", "data.users=20", "server.sums=blend")
        call("run", "rec/analytic", "data.users=20")
        staged = "client.stages=[{rounds: 1, groups: [encoder]}]"
        call("run", "fedavg", "data.limit=60", "model=cnn", "model.norm=batch", "rounds=2", staged)
        call("run", "fedprox", *SMALL, "data.local_test=0.2")
        yield call
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    "arguments",
    [
        ["ls"],
        ["show", "latest"],
        ["resume", "latest"],
        ["compare", "latest"],
        ["diagnose", "latest"],
        ["partition", "fedavg"],
        ["data", "list"],
        ["data", "check", "digits"],
        ["data", "fetch", "digits"],
        ["presets"],
        ["methods"],
        ["balances"],
        ["rules"],
    ],
    ids=" ".join,
)
def test_documented_keys_are_the_printed_keys(ask: Ask, arguments: list[str]) -> None:
    name = " ".join(arguments[:2]) if arguments[0] == "data" else arguments[0]
    answers = [ask(*arguments)]
    if arguments == ["data", "check", "digits"]:
        answers.append(ask("data", "check", "planted"))  # what is reported of interactions
    documents = answers[0] if name in REFERENCE.LISTS else answers
    documented = {key for keys, _ in REFERENCE.JSON[name] for key in keys.split(", ") if "[" not in key}
    assert {key for document in documents for key in document} == documented


def family(name: str) -> str:
    """recall/3 → recall/<class>, grad/norm/cls → grad/norm/<term>, accuracy/merged/iffi → accuracy/merged/<predict>."""
    name = re.sub(r"^(hr@\d+|ndcg@\d+|mrr)/(full|uni100)", "<metric>", name)
    name = re.sub(r"^(router|branch)/(visual|text)", r"\1/<expert>", name)
    name = re.sub(r"^blend/(ridge|sums)", "blend/<scorer>", name)
    name = re.sub(r"^recall/\d+$", "recall/<class>", name)
    name = re.sub(r"^(grad/unreached/).+$", r"\1<weight>", name)
    name = re.sub(r"^(accuracy/(?:merged|validation)/)[\w-]+$", r"\1<predict>", name)
    return re.sub(r"^(loss/(?=(?:cls|con|pf|pp|rec|lb)$)|grad/norm/)\w+$", r"\1<term>", name)


def test_documented_metrics_are_the_recorded_metrics(ask: Ask) -> None:
    with open_store(Path("runs") / "equipoise.db") as store:
        rows = [row for run in ask("ls") for row in read.rows(store, run["run_id"])]
    named = {(row.client is None, family(row.name)) for row in rows}
    client, remembers, server, ranks, stream, _ = tables(DOCS / "reference" / "metrics.md")
    told = {of: [row for row in stream[1:] if row[1] == of] for of in ("client", "server")}
    known = {row[0].strip("`") for row in [*client[1:], *remembers[1:], *told["client"]]}
    assert {name for is_server, name in named if not is_server} == known
    known = {row[0].strip("`") for row in [*server[1:], *ranks[1:], *told["server"]]}
    assert {name for is_server, name in named if is_server} == known
