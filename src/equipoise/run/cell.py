"""A process that runs cells of a sweep, one after another, until its parent is gone."""

from __future__ import annotations

import json
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

from equipoise.config.check import check
from equipoise.config.loader import Request
from equipoise.core.errors import EquipoiseError
from equipoise.engine.wire import join_parent, receive, send
from equipoise.run.announce import Membership
from equipoise.run.fuse import fuse_one, load_clients
from equipoise.run.search.trial_run import run_trial
from equipoise.run.session import resume, start
from equipoise.run.watch import Nobody
from equipoise.store import read
from equipoise.store.database import open_store


def main() -> None:
    parent = join_parent()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while (order := receive(parent)) is not None:
            send(parent, json.dumps(run_cell(json.loads(order))).encode())
    except KeyboardInterrupt:
        return


def run_cell(order: dict[str, Any]) -> dict[str, Any]:
    """Run or resume one cell; {state, run_id, error, value}. The runs of a search answer for themselves."""
    if "trial" in order:
        return run_trial(order)
    run_id = order["run_id"]
    folder = Path(order["data_path"]) if order["data_path"] else None
    try:
        with open_store(order["store"]) as store:
            if run_id is None:
                member, config = Membership(order["sweep"], order["cell"]), check(order["config"])
                if order["clients_of"] is not None:
                    of = read.find_run(store, order["clients_of"])
                    with closing(load_clients(store, of, config, folder)) as stored:
                        run_id = fuse_one(store, stored, config, member)
                else:
                    run_id = start(store, Request(config, folder), Nobody(), member)
            else:
                resume(store, read.find_run(store, run_id), Nobody(), folder)
            value = read.final_metrics(store, run_id).get(read.find_run(store, run_id).headline)
        return {"state": "done", "run_id": run_id, "error": None, "value": value}
    except EquipoiseError as error:
        return {"state": "failed", "run_id": run_id, "error": str(error), "exit_code": error.exit_code}
    except Exception as error:
        return {"state": "failed", "run_id": run_id, "error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
