"""`equipoise serve` as its users start it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

COMMAND = [sys.executable, "-m", "equipoise", "serve"]


def failing(*arguments: str) -> str:
    """What it prints when it does not start, with exit code 2."""
    found = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 2, found.stderr
    return found.stderr


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    arguments = ["--port", "0", "--store", str(tmp_path / "new" / "runs.db")]
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        watch, act = (server.stdout.readline().split()[1] for _ in range(2))
        assert json.load(urlopen(f"{watch}?format=json"))["n"] == 0
        assert act.startswith(f"{watch}?token=")
        asked = Request(f"{watch}runs/latest/stop", data=b"{}", headers={"X-Equipoise": "1"})
        with pytest.raises(HTTPError, match="401"):
            urlopen(asked)
        server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=20)
        assert (server.returncode in {0, 130}, "Traceback" in said) == (True, False), said


def test_a_port_that_is_taken_is_refused_in_words(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = failing("--port", str(port), "--store", str(tmp_path / "runs.db"))
    assert f"port {port}" in said
    assert "--port 0" in said


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        ("a-token-that-others-may-read", 0o644, "chmod 600"),
        ("short", 0o600, "16 characters"),
        ("with spaces in the middle of it", 0o600, "without spaces"),
        ("", 0o600, "16 characters"),
    ],
)
def test_a_token_that_protects_nothing_is_refused(tmp_path: Path, text: str, mode: int, says: str) -> None:
    token = tmp_path / "token"
    token.write_text(text, encoding="utf-8")
    token.chmod(mode)
    assert says in failing("--token-file", str(token), "--port", "0", "--store", str(tmp_path / "runs.db"))


def test_a_token_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    assert str(missing) in failing("--token-file", str(missing), "--port", "0", "--store", str(tmp_path / "runs.db"))


def test_an_address_that_is_not_of_this_machine_is_refused(tmp_path: Path) -> None:
    assert "cannot listen" in failing("--host", "203.0.113.7", "--port", "0", "--store", str(tmp_path / "runs.db"))


def test_there_is_no_such_port(tmp_path: Path) -> None:
    assert "no port 70000" in failing("--port", "70000", "--store", str(tmp_path / "runs.db"))
