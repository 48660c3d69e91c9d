"""The server on a socket of its own, as a process that is asked over the wire."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from equipoise.dashboard.serve import LARGEST_HEADERS
from equipoise.store import write
from equipoise.store.database import Store, open_store
from equipoise.store.locks import hold
from equipoise.store.watching import requested
from tests.commands import command, environment

from .conftest import written_run

TOKEN = "a-token-with&signs#in=it"


@dataclass(frozen=True)
class Served:
    process: subprocess.Popen[str]
    page: str
    sign_in: str
    store: Store

    @property
    def port(self) -> int:
        return httpx.URL(self.page).port or 80

    def said(self, request: bytes) -> bytes:
        """What the server answers to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            answer = b""
            with suppress(ConnectionError):  # it hangs up on what is far too large
                connection.sendall(request)
                while piece := connection.recv(65536):
                    answer += piece
            return answer


def begun(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    place = str(folder / "equipoise.db")
    return subprocess.Popen(
        command("serve", "--store", place, "--port", "0", *arguments), cwd=folder, env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    secret = folder / "token"
    secret.write_text(f"{TOKEN}\n")
    secret.chmod(0o600)
    process = begun(folder, "--token-file", str(secret))
    try:
        assert process.stdout is not None
        page, sign_in = (process.stdout.readline().split()[1] for _ in range(2))
        with open_store(str(folder / "equipoise.db"), patience=60) as store:
            yield Served(process, page, sign_in, store)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (130, "")  # as of every command that Ctrl-C ended
        assert set(err.splitlines()) <= {"WARNING:  Invalid HTTP request received."}  # and nothing failed meanwhile
    finally:
        process.kill()
        process.communicate()


def test_the_printed_addresses_open_and_sign_in(served: Served) -> None:
    with httpx.Client(follow_redirects=True) as client:
        assert client.get(f"{served.page}start?format=json").json()["may_act"] is False
        answer = client.get(served.sign_in)
        assert (answer.status_code, str(answer.url)) == (200, served.page)
        assert client.get(f"{served.page}start?format=json").json()["may_act"] is True
        assert "server" not in answer.headers


def test_a_reader_hears_of_a_run_while_it_goes_on(served: Served) -> None:
    with httpx.stream("GET", f"{served.page}changes", timeout=60) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(lines) == "retry: 2000"
        written_run(served.store, "fedavg-000009")
        assert 'data: ["fedavg-000009"]' in lines
        write.finish(served.store, "fedavg-000009", "done")
        assert 'data: ["fedavg-000009"]' in lines


@pytest.mark.parametrize(
    "request_line",
    [b"GET / HTTP/1.1\r\nHost: {host}\r\nHost: {host}", b"GET / HTTP/1.1\r\nHost: evil.example", b"GET / HTTP/1.1",
     b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example", b"GET / HTTP/1.0",
     b"GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example", b"OPTIONS * HTTP/1.1\r\nHost: {host}",
     b"GET /changes HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: null",
     b"GET /" + b"x" * 600 + b" HTTP/1.1\r\nHost: {host}", b"GET /?" + b"x" * 5000 + b" HTTP/1.1\r\nHost: {host}",
     b"GET / HTTP/1.1\r\nHost: {host}\r\nX: " + b"x" * 100 * LARGEST_HEADERS, b"nonsense",
     b"GET / HTTP/1.1\r\n\x00: x"],
)  # fmt: skip
def test_what_is_no_request_of_ours_gets_no_page(served: Served, request_line: bytes) -> None:
    host = f"127.0.0.1:{served.port}".encode()
    answer = served.said(request_line.replace(b"{host}", host) + b"\r\nConnection: close\r\n\r\n")
    is_hung_up = answer == b"" and len(request_line) > LARGEST_HEADERS
    assert answer.startswith(b"HTTP/1.1 4") or is_hung_up, answer[:200]
    assert b"<!doctype html>" not in answer


def test_an_action_whose_length_lies_does_nothing(served: Served) -> None:
    run_id = written_run(served.store, "fedavg-000008")
    head = f"POST /runs/{run_id}/stop HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nX-Equipoise: 1"
    head += "\r\nContent-Type: application/json"
    head += f"\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n"
    for length in ("Content-Length: 2\r\nContent-Length: 3", "Content-Length: -1", "Transfer-Encoding: chunked",
                   "Content-Length: 99999999", "Content-Length: " + "9" * 5000):  # fmt: skip
        with hold(served.store, run_id):
            answer = served.said(f"{head}{length}\r\n\r\n{{}}".encode())
        assert answer.startswith(b"HTTP/1.1 4"), (length[:60], answer[:200])
        assert requested(served.store, run_id) == []
    with hold(served.store, run_id):
        assert served.said(f"{head}Content-Length: 2\r\n\r\n{{}}".encode()).startswith(b"HTTP/1.1 202")
    assert requested(served.store, run_id) == ["stop"]


def test_header_lines_cannot_be_added_through_an_address(served: Served) -> None:
    evil, sign_in = "%0d%0aX-Evil:%20yes", served.sign_in.removeprefix(served.page)
    for target in (f"/{evil}", f"/?lang=en{evil}", f"/{evil}{sign_in}", f"/{sign_in}&lang=en{evil}"):
        head, _, _ = served.said(
            f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nConnection: close\r\n\r\n".encode()
        ).partition(b"\r\n\r\n")
        assert b"\nx-evil" not in head.lower()
