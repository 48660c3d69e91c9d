from __future__ import annotations

from equipoise.config.loader import Request
from equipoise.config.schema import Config
from equipoise.run.matching import runs_of
from equipoise.run.placed import placed
from equipoise.run.session import start
from equipoise.run.watch import Nobody
from equipoise.store import tables
from equipoise.store.transact import writing
from tests.conftest import tiny


def test_clients_along_another_axis_are_another_configuration() -> None:
    plain, eight = tiny(), tiny("engine.together=8")
    assert plain.fingerprint() != eight.fingerprint() != tiny("engine.together=4").fingerprint()
    assert plain.fingerprint() == tiny("engine=processes").fingerprint()


def test_runs_of_stores_without_the_axis_in_their_hash_keep_matching(store) -> None:
    """Both runs have the hash that earlier versions gave them; their settings tell them apart."""

    def former(config: Config) -> str:
        run_id = start(store, Request(config, None), Nobody())
        with writing(store) as connection:
            connection.execute(tables.runs.update().values(config_hash=placed(tiny("rounds=1")).fingerprint()))
        return run_id

    plain, together = former(tiny("rounds=1")), former(tiny("rounds=1", "engine.together=2"))
    assert [run.run_id for run in runs_of(store, tiny("rounds=1"))] == [plain]
    assert [run.run_id for run in runs_of(store, tiny("rounds=1", "engine.together=2"))] == [together]
    assert runs_of(store, tiny("rounds=1", "engine.together=3")) == []
