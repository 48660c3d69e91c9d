"""A real MLflow server, as a process that can be killed and started again over the same database.

`make test-trackers` makes its environment, `.trackers`; EQUIPOISE_TEST_MLFLOW names another program `mlflow`.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("EQUIPOISE_TEST_MLFLOW", ROOT / ".trackers" / "bin" / "mlflow"))
PATIENCE = 120.0
"""Seconds that the server may take to start."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("trackers")


class MlflowServer:
    """Its address stays the same; its runs are in an SQLite file of its folder."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM.is_file(), f"there is no {PROGRAM}: `make test-trackers` makes it"
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        self.database = folder / "mlflow.db"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        store = ["--backend-store-uri", f"sqlite:///{self.database}", "--artifacts-destination", str(self.folder / "a")]
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("MLFLOW_", "PYTHON"))}
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                [str(PROGRAM), "server", *where, *store],
                cwd=self.folder,
                env={**kept, "MLFLOW_DISABLE_TELEMETRY": "true"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            assert time.monotonic() < deadline, (self.folder / "log.txt").read_text()
            assert self.process.poll() is None, (self.folder / "log.txt").read_text()
            time.sleep(0.2)

    def kill(self) -> None:
        """SIGKILL to the server and all its workers."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.uri}/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def client(self) -> Any:
        from equipoise.track.to_mlflow import client_of

        return client_of(self.uri)

    def runs(self, experiment: str = "equipoise") -> list[Any]:
        client = self.client()
        found = client.get_experiment_by_name(experiment)
        return [] if found is None else list(client.search_runs([found.experiment_id]))

    def curves(self, remote: str) -> dict[tuple[str, int], float]:
        """{(metric, step): value} of a run, as its own client reads it."""
        client = self.client()
        names = client.get_run(remote).data.metrics
        points = [point for name in names for point in client.get_metric_history(remote, name)]
        return {(point.key, point.step): point.value for point in points}


@pytest.fixture(scope="session")
def server_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MlflowServer]:
    mine = MlflowServer(tmp_path_factory.mktemp("mlflow"))
    mine.start()
    yield mine
    mine.kill()


@pytest.fixture
def server(server_of_all: MlflowServer) -> MlflowServer:
    """The server, which goes on; a test that killed it gets it back."""
    if server_of_all.process is None:
        server_of_all.start()
    return server_of_all
