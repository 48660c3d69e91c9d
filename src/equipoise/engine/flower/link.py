"""A driver's link to a Flower server: it starts a run there, and exchanges messages with machines.

The round loop stays in this process: the link plays the part of the run's ServerApp. `post` sends, `collect` returns
what has come; nothing here waits for a particular machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from equipoise.core.errors import ConfigError, EngineError
from equipoise.engine.flower.authority import SECRET
from equipoise.engine.flower.connect import Heartbeat, reached, require_flower, retries, runtime
from equipoise.engine.flower.control import control_client
from equipoise.engine.flower.parcel import Parcel, packed, unpacked
from equipoise.engine.settings import FlowerOptions

MARKER = """[project]
name = "equipoise-run"
version = "0.1.0"
description = "Says that Equipoise drives this run; it holds no code."
license = "Apache-2.0"
dependencies = ["flwr>=1.41.0"]
[tool.flwr.app]
publisher = "equipoise"
[tool.flwr.app.components]
serverapp = "marker:app"
clientapp = "marker:app"
"""


@dataclass(frozen=True)
class Reply:
    """A machine's answer to a message, or why there is none."""

    message: str
    parcel: Parcel | None
    error: str = ""


class Link:
    def __init__(self, options: FlowerOptions) -> None:
        require_flower()
        self.address, self._patience = options.address, options.patience
        self._was_away = False
        certificate = _read(options.certificate, "engine.certificate")
        secret = _read(options.secret or str(Path(options.certificate).with_name(SECRET)), "engine.secret")
        try:
            self.run_id, token = reached("SuperLink", self.address, lambda: self._claimed(certificate, secret))
        except EngineError as error:  # nothing has begun: it is the request that is wrong
            raise ConfigError(error.what, where=error.where, fix=error.fix) from error
        self._grid, self._beat = self._opened(certificate, token)

    def _claimed(self, certificate: bytes, secret: bytes) -> tuple[int, str]:
        """Start a run, and claim its task for this process; older runs that nobody works on are ended first."""
        from flwr.proto.control_pb2 import StopRunRequest
        from flwr.proto.runtime_pb2 import AcquireTaskRequest, PushTaskOutputRequest
        from flwr.supercore.constant import TaskType

        control = control_client(self.address, certificate, self._patience)
        run_id = _start(control)
        claim = runtime(self.address, certificate, self._patience, secret=secret)
        try:
            while True:
                got = claim.AcquireTask(AcquireTaskRequest(supported_task_types=[TaskType.SERVER_APP]))
                if not got.HasField("task"):
                    what = f"the server gave run {run_id} to another process"
                    raise EngineError(what, where=self.address, fix="no other Flower executor may use this server")
                if got.task.run_id == run_id:
                    return run_id, got.token
                stale = runtime(self.address, certificate, self._patience, token=got.token)
                stale.PushTaskOutput(PushTaskOutputRequest(sub_status="failed", details="its driver is gone"))
                stale.close()
                control.StopRun(StopRunRequest(run_id=got.task.run_id))
        finally:
            claim.close()
            control.close()

    def _opened(self, certificate: bytes, token: str) -> tuple[Any, Heartbeat]:
        from flwr.common.serde import run_from_proto
        from flwr.proto.runtime_pb2 import PullTaskInputRequest
        from flwr.supercore.task_identity import TaskIdentity
        from flwr.superlink.grid import HttpGrid

        grid = HttpGrid(self.address, False, certificate, token=token)
        grid._retry_invoker = retries(self._patience, self._notice)
        client = grid._runtime_client
        given = client.PullTaskInput(PullTaskInputRequest())
        TaskIdentity.task_id, TaskIdentity.run_id = given.task_id, given.run.run_id
        TaskIdentity.node_id = given.context.node_id
        grid.set_run(run_from_proto(given.run))
        return grid, Heartbeat(client)

    def _notice(self, _: object) -> None:
        self._was_away = True

    def was_away(self) -> bool:
        """Whether the server did not answer at some time since the last question."""
        found, self._was_away = self._was_away, False
        return found

    def machines(self) -> dict[int, str]:
        """The machines that are there now: number → the name under which their key was registered."""
        nodes = reached("SuperLink", self.address, self._grid.get_nodes)
        return {node.node_id: node.name or f"machine-{node.node_id % 10**6:06d}" for node in nodes}

    def post(self, parcels: Mapping[int, Parcel]) -> dict[str, int]:
        """Send a parcel to each machine; returns message → machine."""
        from flwr.app import Message

        if self._beat.is_refused:
            raise EngineError("the server has ended this run", where=self.address, fix="`equipoise resume` goes on")
        sent: dict[str, int] = {}
        for node, parcel in parcels.items():  # one by one: together they could be too large for one request
            push = partial(self._grid.push_messages, [Message(packed(parcel), dst_node_id=node, message_type="train")])
            (given,) = reached("SuperLink", self.address, push)
            if given is None or given == "":
                raise EngineError("the server did not take a message", where=self.address)
            sent[given] = node
        return sent

    def collect(self, messages: Mapping[str, int]) -> Iterator[Reply]:
        """The replies that have come."""
        if not messages:
            return
        for reply in reached("SuperLink", self.address, lambda: list(self._grid.pull_messages(list(messages)))):
            message = reply.metadata.reply_to_message_id
            if reply.has_error():
                yield Reply(message, None, f"{reply.error.reason or 'no reason given'} ({reply.error.code})")
                continue
            try:
                yield Reply(message, unpacked(reply.content))
            except EngineError as error:
                yield Reply(message, None, error.what)

    def close(self, status: str = "completed") -> None:
        """End the run on the server; a server that is gone has ended it already."""
        import httpx
        from flwr.proto.runtime_pb2 import PushTaskOutputRequest
        from flwr.supercore.run import RunNotRunningException

        self._beat.stop()
        self._grid._retry_invoker.max_time = 1.0
        try:
            self._grid._runtime_client.PushTaskOutput(PushTaskOutputRequest(sub_status=status, details=""))
        except (httpx.HTTPError, RunNotRunningException):
            return
        finally:
            self._grid.close()


def _start(control: Any) -> int:
    from flwr.cli.build import build_fab_from_files
    from flwr.common.serde import fab_to_proto, user_config_to_proto
    from flwr.proto.control_pb2 import StartRunRequest
    from flwr.supercore.fab import Fab

    files = {"pyproject.toml": MARKER.encode(), "marker.py": b"app = None\n"}
    fab, _ = build_fab_from_files(files)
    marker = fab_to_proto(Fab(hashlib.sha256(fab).hexdigest(), fab, {}))
    return int(control.StartRun(StartRunRequest(fab=marker, override_config=user_config_to_proto({}))).run_id)


def _read(path: str | None, key: str) -> bytes:
    if not path:
        raise ConfigError("engine=flower needs the server's certificate", where=key, fix=f"{key}=federation/ca.crt")
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        what = f"{path} cannot be read ({error.strerror})"
        fix = "`equipoise federation init` makes certificates and keys; check the path"
        raise ConfigError(what, where=key, fix=fix) from error
