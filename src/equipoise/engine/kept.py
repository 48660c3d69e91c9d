"""Client states that nodes keep: results then carry a handle instead of the state.

    handle = hash of the state        file = <client>-<handle>.safetensors, written whole or not at all

The server stores handles in its checkpoints, so a resumed run continues from the state that belongs to its step. A node
keeps the newest states of each client, as many as the server keeps checkpoints.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from equipoise.config.schema import Config
from equipoise.core.codec import decode, encode, flatten, unflatten
from equipoise.core.errors import ClientError
from equipoise.core.values import ClientState, ClientUpdate, Result, Task


def federation_key(config: Config) -> str:
    """The subfolder of a federation, so that runs that share a folder never prune each other's states.

    Settings that a resumed run may change, such as its rounds or a healed λ, are not part of it.
    """
    kept = {"name", "seed", "data", "partition", "model"}
    content = config.model_dump_json(include=kept) + config.method.name + config.balance.name
    return blake2b(content.encode(), digest_size=8).hexdigest()


KEPT = 4
"""Number of states that are kept per client."""


class StateFolder:
    """The folder in which a node keeps its clients' states."""

    def __init__(self, folder: Path, needs_models: bool) -> None:
        """`needs_models`: clients go on from their own model, which also travels: the server merges the latest."""
        self.folder, self.needs_models = folder, needs_models
        folder.mkdir(parents=True, exist_ok=True)

    def taken_up(self, task: Task) -> Task:
        """The task with the state that its handle names."""
        handle = task.own.handle
        if not handle:
            return task
        path = self.folder / f"{task.client}-{handle}.safetensors"
        if not path.is_file():
            what = f"the state that client {task.client} kept is gone"
            raise ClientError(what, where=str(path), fix="bring the folder back, or start the run anew")
        return replace(task, own=ClientState.of(unflatten(decode(path.read_bytes())[1])))

    def put_down(self, result: Result) -> Result:
        """The result with a handle in place of the client's state; its report still travels."""
        if not isinstance(result, ClientUpdate):
            return result
        own = result.own
        if not any(state for name, state in own.groups().items() if name != "report"):
            return result  # nothing is kept from task to task
        data = encode({}, flatten(replace(own, report={}).groups()))
        handle = blake2b(data, digest_size=16).hexdigest()
        self._write(f"{result.client}-{handle}.safetensors", data)
        self._prune(result.client)
        latest = own.model if self.needs_models else {}
        return replace(result, own=ClientState(model=latest, report=own.report, handle=handle))

    def _write(self, name: str, data: bytes) -> None:
        descriptor, unfinished = tempfile.mkstemp(dir=self.folder, suffix=".part")
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(unfinished, self.folder / name)

    def _prune(self, client: int) -> None:
        states = sorted(self.folder.glob(f"{client}-*.safetensors"), key=lambda path: path.stat().st_mtime_ns)
        for path in states[:-KEPT]:
            path.unlink(missing_ok=True)
