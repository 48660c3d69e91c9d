from __future__ import annotations

from equipoise.run.state import Record, Snapshot
from equipoise.run.watch import Nobody
from equipoise.server.merge import ServerState


def test_nobody_hears_everything_and_says_nothing(capsys):
    nobody = Nobody()
    nobody.begin("run", None, 0)  # type: ignore[arg-type]
    nobody.tick(0, 1, 2, None)  # type: ignore[arg-type]
    nobody.checkpoint(Record(0, [], [], Snapshot(ServerState({}))))
    nobody.note("something")
    nobody.end()
    assert capsys.readouterr() == ("", "")
