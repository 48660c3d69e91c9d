"""A client machine: Flower's SuperNode, which talks to the server, and one warm process of ours that does the work.

The SuperNode is started again when it ends: after a break a server may for a while take the machine for the one that
was lost, and turn it away.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.core.errors import ConfigError, EngineError
from equipoise.engine.flower.children import free_port, is_listening, last_words, start, stop
from equipoise.engine.flower.connect import Heartbeat, require_flower, runtime
from equipoise.engine.flower.machine import ClientMachine
from equipoise.engine.flower.parcel import Parcel, packed, unpacked

PATIENCE = 60.0
AGAIN_SECONDS = 3.0
NOT_ADMITTED = 305
"""How a SuperNode ends that the server turned away, in its log."""
ADMITTED = "SuperNode ID:"
"""What its log says when the server has admitted it."""
Say = Callable[[str], None]


@dataclass(frozen=True)
class Post:
    """Where a machine connects to, and what it is known by."""

    server: str
    certificate: Path
    key: Path
    folder: Path
    """For the SuperNode's log, and our secrets with it."""
    poll: float = 0.5
    """Seconds between two questions for work."""

    def require(self) -> None:
        require_flower()
        for path, option in ((self.certificate, "--certificate"), (self.key, "--key")):
            try:
                path.read_bytes()
            except OSError as error:
                what = f"{path} cannot be read ({error.strerror})"
                raise ConfigError(what, where=option, fix="`equipoise federation init` makes these files") from error
        host, colon, port = self.server.rpartition(":")
        if not colon or not host or not port.isdigit():
            raise ConfigError(f"'{self.server}' is not HOST:PORT", where="--server", fix="--server 10.0.0.1:9092")


class SuperNode:
    def __init__(self, post: Post) -> None:
        post.require()
        post.folder.mkdir(parents=True, exist_ok=True)
        self.post, self.port, self.secret = post, free_port(), secrets.token_bytes(32)
        self.log, self._secret_file = post.folder / "supernode.log", post.folder / "supernode.secret"
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        with open(os.open(self._secret_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(self.secret)
        self.log.write_bytes(b"")
        arguments = ["--superlink", self.post.server, "--root-certificates", str(self.post.certificate)]
        arguments += ["--auth-supernode-private-key", str(self.post.key), "--host", "127.0.0.1"]
        arguments += ["--port", str(self.port), "--isolation", "process"]
        arguments += ["--superexec-auth-secret-file", str(self._secret_file)]
        self._child = start("supernode", arguments, self.log, self.post.folder / "flower", self.post.poll)

    def is_running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def is_ready(self) -> bool:
        """Whether the server has admitted it."""
        return self.is_running() and ADMITTED in self._said() and is_listening(self.port)

    def _said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def why(self) -> str:
        """Why it ended, in words."""
        log = self._said()
        if "certificate" in log.lower() and "verify failed" in log.lower():
            return "the server's certificate is not the one of --certificate, or it has expired"
        if str(NOT_ADMITTED) in log or "401" in log or "Unauthorized" in log:
            return "the server does not know this key, or still takes this machine for the one that was lost"
        return last_words(self.log) or "it said nothing"

    def close(self) -> None:
        if self._child is not None:
            stop(self._child)


def join(post: Post, machine: ClientMachine, say: Say, is_over: Callable[[], bool] = lambda: False) -> None:
    """Work for the federation until the process is interrupted."""
    node = SuperNode(post)
    node.start()
    said, was_ready = "", False
    try:
        while not is_over():
            if not node.is_running():
                why = node.why()
                if why != said:
                    say(f"not connected: {why}; trying again")
                said, was_ready = why, False
                time.sleep(AGAIN_SECONDS)
                node.start()
            elif not node.is_ready():
                time.sleep(0.2)
            else:
                if not was_ready:
                    say(f"waiting for work from {post.server}")
                said, was_ready = "", True
                _serve(node, machine, say, is_over)
    finally:
        node.close()


def _serve(node: SuperNode, machine: ClientMachine, say: Say, is_over: Callable[[], bool]) -> None:
    """Take tasks of the SuperNode, one after another, for as long as it runs."""
    import httpx
    from flwr.proto.runtime_pb2 import AcquireTaskRequest
    from flwr.supercore.constant import TaskType

    claim = runtime(node.address, None, PATIENCE, secret=node.secret)
    try:
        while not is_over() and node.is_running():
            got = claim.AcquireTask(AcquireTaskRequest(supported_task_types=[TaskType.CLIENT_APP]))
            if got.HasField("task"):
                _do(node.address, got.token, machine, say)
            else:
                time.sleep(0.1)
    except httpx.HTTPError as error:
        say(f"the SuperNode does not answer: {error}")
    finally:
        claim.close()


def _do(address: str, token: str, machine: ClientMachine, say: Say) -> None:
    """One task: read the message, answer it. A server that no longer wants the answer loses it."""
    import httpx
    from flwr.app import Message
    from flwr.supercore.run import RunNotRunningException
    from flwr.supernode.runtime.run_clientapp import pull_task_input, push_message, push_task_output

    client = runtime(address, None, PATIENCE, token=token)
    beat = Heartbeat(client)
    try:
        message, context, _, _ = pull_task_input(client)
        answer = _answered(machine, message.content, say)
        push_message(client, Message(packed(answer), reply_to=message), context)
        push_task_output(client, context, "completed", "")
    except (httpx.HTTPError, RunNotRunningException, RuntimeError, EngineError) as error:
        say(f"an answer was lost: {str(error) or type(error).__name__}")
    finally:
        beat.stop()
        client.close()


def _answered(machine: ClientMachine, content: Any, say: Say) -> Parcel:
    try:
        asked = unpacked(content)
    except EngineError as error:
        return Parcel({"refused": str(error), "kind": "machine-refused"})
    began = time.monotonic()
    answer = machine.answer(asked)
    what = f"refused: {answer.header['refused']}" if "refused" in answer.header else "done"
    say(f"{asked.header.get('do')}: {what} ({time.monotonic() - began:.1f} s)")
    return answer
