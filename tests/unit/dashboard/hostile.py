"""A run whose every text tries to leave its place in the page."""

from __future__ import annotations

from typing import Any

from equipoise.core.values import Event, Row
from equipoise.store import write
from equipoise.store.records import NewRun
from equipoise.store.transact import Store
from tests.conftest import tiny

MARK = "zzmark"
PAYLOAD = (
    f"</script></textarea><script>{MARK}()</script><img src=x onerror={MARK}()>'\" onload={MARK}() `<b>{MARK}</b>` "
    "{{ 7*7 }} {0} \x1b[31m\x1b]0;title\x07\u2028 javascript:alert(1)"
)
RUN = "hostile-000001"


def add_hostile_run(store: Store) -> str:
    own = {name: {"name": PAYLOAD} for name in ("method", "data", "engine")}
    config = {**tiny("rounds=3").model_dump(mode="json"), **own, "name": PAYLOAD, PAYLOAD: PAYLOAD}
    about: dict[str, Any] = {"name": PAYLOAD, "method": PAYLOAD, "seed": 1, "config": config, "config_hash": "0"}
    more = {"headline": "accuracy/merged", "version": PAYLOAD, "sweep": PAYLOAD, "cell": PAYLOAD}
    write.create_run(store, NewRun(run_id=RUN, **about, **more), events=[Event("started", f"{PAYLOAD}\x00")])
    rows = [Row(0, 0, client, name, 0.5) for client in (None, 0, 1) for name in ("accuracy/merged", f"loss/{PAYLOAD}")]
    happened = [
        Event(PAYLOAD, PAYLOAD, step=0, client=0, detail={PAYLOAD: PAYLOAD}),
        Event("machine-joined", PAYLOAD, step=0, detail={"machine": PAYLOAD}),
    ]
    write.commit_step(store, RUN, 0, rows, happened, {})
    finding = {
        "code": PAYLOAD, "severity": "error", "clients": [0], "steps": [0, 0], "evidence": [], "saw": PAYLOAD,
        "cause": PAYLOAD, "remedy": PAYLOAD, "override": PAYLOAD, "because": [PAYLOAD], "rows": [], "healed": {},
    }  # fmt: skip
    write.set_findings(store, RUN, [finding])
    write.finish(store, RUN, "failed", f"{PAYLOAD}\x00")
    return RUN
