"""A federation's server: Flower's SuperLink on loopback, the registered machines, and the proxy that machines reach.

Messages are kept in a database in the federation's folder, so a server that died goes on where it was.
"""

from __future__ import annotations

import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from equipoise.core.errors import ConfigError, EngineError
from equipoise.engine.flower.authority import SECRET
from equipoise.engine.flower.children import free_port, is_listening, last_words, start, stop
from equipoise.engine.flower.connect import reached, require_flower
from equipoise.engine.flower.control import control_client
from equipoise.engine.flower.proxy import fleet_only

START_SECONDS = 60.0
ENROL_SECONDS = 5.0
"""Seconds between two looks for new keys, and for a SuperLink that has ended."""
NEEDED = ("ca.crt", "server.crt", "server.key", SECRET)


class FederationServer:
    """The SuperLink of a folder, restarted if it dies. `port` is where drivers on this machine reach it."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        require_flower()
        self.folder, self.port = folder.resolve(), port or free_port()
        for name in NEEDED:
            if not (folder / name).is_file():
                what = f"{folder / name} is missing"
                raise ConfigError(what, where=str(folder), fix=f"equipoise federation init {folder} --machines A,B,C")
        self.log = self.folder / "superlink.log"
        self._child: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()
        self._start()
        try:
            reached("SuperLink", f"127.0.0.1:{self.port}", self.enrol)
        except BaseException:
            self.close()
            raise
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def _start(self) -> None:
        if is_listening(self.port):
            what = f"port {self.port} is taken"
            raise EngineError(what, where="federation serve", fix="another --driver-port, or end what listens there")
        place = self.folder
        arguments = ["--host", "127.0.0.1", "--port", str(self.port), "--isolation", "process"]
        arguments += ["--ssl-certfile", str(place / "server.crt"), "--ssl-keyfile", str(place / "server.key")]
        arguments += ["--ssl-ca-certfile", str(place / "ca.crt"), "--enable-supernode-auth"]
        arguments += ["--superexec-auth-secret-file", str(place / SECRET), "--disable-runtime-dependency-installation"]
        arguments += ["--database", str(place / "messages.db")]
        self._child = start("superlink", arguments, self.log, place / "flower")
        deadline = time.monotonic() + START_SECONDS
        while not is_listening(self.port):
            if self._child.poll() is not None or time.monotonic() > deadline:
                stop(self._child)
                what = f"Flower's SuperLink does not start: {last_words(self.log)}"
                raise EngineError(what, where=str(self.log), fix="the log says more")
            time.sleep(0.2)

    def enrol(self) -> list[str]:
        """Register the keys of the folder, and take out machines whose key is gone. Returns the machines' names."""
        from flwr.proto.control_pb2 import ListNodesRequest, RegisterNodeRequest, UnregisterNodeRequest

        keys = {public_key(path): path.stem for path in sorted((self.folder / "keys").glob("*.pub"))}
        control = self.control()
        try:
            there = {bytes(node.public_key): node for node in control.ListNodes(ListNodesRequest()).nodes_info}
            for key in keys.keys() - there.keys():
                control.RegisterNode(RegisterNodeRequest(public_key=key, name=keys[key]))
            for key in there.keys() - keys.keys():
                control.UnregisterNode(UnregisterNodeRequest(node_id=there[key].node_id))
        finally:
            control.close()
        return list(keys.values())

    def control(self) -> Any:
        certificate = (self.folder / "ca.crt").read_bytes()
        return reached(
            "SuperLink", f"127.0.0.1:{self.port}", lambda: control_client(f"127.0.0.1:{self.port}", certificate)
        )

    def _keep(self) -> None:
        while not self._over.wait(ENROL_SECONDS):
            with suppress(EngineError):
                if self._child is not None and self._child.poll() is not None and not self._over.is_set():
                    self._start()
                reached("SuperLink", f"127.0.0.1:{self.port}", self.enrol)

    @property
    def pid(self) -> int:
        return self._child.pid if self._child is not None else 0

    def show(self, host: str, port: int) -> None:
        """Let machines in until the process is interrupted."""
        import uvicorn

        app = fleet_only(f"127.0.0.1:{self.port}", self.folder / "ca.crt")
        certificate, key = str(self.folder / "server.crt"), str(self.folder / "server.key")
        uvicorn.run(app, host=host, port=port, log_level="warning", ssl_certfile=certificate, ssl_keyfile=key)

    def close(self) -> None:
        self._over.set()
        if self._child is not None:
            stop(self._child)


def public_key(path: Path) -> bytes:
    """A key file's content, as Flower registers it."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key
    from flwr.supercore.primitives.asymmetric import public_key_to_bytes

    try:
        key = load_ssh_public_key(path.read_bytes())
    except (ValueError, OSError, UnsupportedAlgorithm) as error:
        what = f"{path} cannot be read as a public key: {error}"
        raise ConfigError(
            what, where=str(path), fix="ssh-keygen -t ecdsa -b 384, or `equipoise federation init`"
        ) from error
    if not isinstance(key, EllipticCurvePublicKey):
        raise ConfigError(f"{path} is not an elliptic-curve key", where=str(path), fix="ssh-keygen -t ecdsa -b 384")
    return bytes(public_key_to_bytes(key))
