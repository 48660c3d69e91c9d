"""Runs of a store that have the settings of a configuration.

Stores of earlier versions left `engine.together` out of the hash. Of two runs with one hash one may have trained its
clients along another axis then: the stored settings say which.
"""

from __future__ import annotations

from equipoise.config.schema import Config
from equipoise.store import read
from equipoise.store.database import Store
from equipoise.store.records import Run


def runs_of(store: Store, config: Config) -> list[Run]:
    """Newest first."""
    engine = config.engine.model_copy(update={"together": None})
    hashes = {config.fingerprint(), config.model_copy(update={"engine": engine}).fingerprint()}
    found = {run.run_id: run for each in hashes for run in read.runs(store, config_hash=each)}
    return [run for run in found.values() if run.config["engine"].get("together") == config.engine.together]
