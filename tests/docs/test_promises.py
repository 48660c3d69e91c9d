"""Promises of the pages that no shell block shows: signatures, and an example that must do what it is there for."""

from __future__ import annotations

import re
import shlex
from inspect import signature

from equipoise.config.loader import Request, load
from equipoise.core.registry import PREDICTS
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.server.mean import mean
from equipoise.store import read
from equipoise.store.database import open_store
from tests.docs.documents import DOCS
from tests.docs.documents import read as text_of


def test_the_shapes_of_a_methods_parts_are_ours() -> None:
    rows = dict(re.findall(r"^\| (a [\w λ]+) \| `\((.*?)\) →", text_of(DOCS / "howto" / "add-a-method.md"), flags=re.M))
    predict, merge = (list(signature(part).parameters.values()) for part in (PREDICTS.find("energy-gate").make, mean))
    assert rows["a prediction"].split(", ") == [each.annotation for each in predict]
    assert rows["a merge"].split(", ")[0] == merge[0].annotation
    assert rows["a merge"].split(", ")[1] == merge[1].name


def test_the_documented_heal_example_heals_something(tmp_path) -> None:
    (line,) = re.findall(r"^equipoise run (.*guard=heal)$", text_of(DOCS / "howto" / "diagnose.md"), flags=re.M)
    preset, *settings = shlex.split(line)
    with open_store(tmp_path / "runs.db") as store:
        run_id = start(store, Request(load(preset, settings).config, None), Nobody())
        assert any(recorded.event.kind == "guard-healed" for recorded in read.events(store, run_id))
        (healed,) = [finding for finding in read.findings(store, run_id) if finding["healed"]]
    assert healed["code"] == "lambda-runaway"
