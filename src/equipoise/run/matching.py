"""Finds the runs of a store that have the settings of a configuration.

Earlier versions left `engine.together` out of the hash. So runs with the same hash may differ in how many clients
trained along one axis; the stored settings tell them apart.
"""

from __future__ import annotations

from equipoise.config.schema import Config
from equipoise.run.placed import placed
from equipoise.store import read
from equipoise.store.database import Store
from equipoise.store.records import Run


def runs_of(store: Store, config: Config) -> list[Run]:
    """The matching runs, newest first."""
    config = placed(config)
    engine = config.engine.model_copy(update={"together": None})
    hashes = {config.fingerprint(), config.model_copy(update={"engine": engine}).fingerprint()}
    found = {run.run_id: run for each in hashes for run in read.runs(store, config_hash=each)}
    return [run for run in found.values() if run.config["engine"].get("together") == config.engine.together]
