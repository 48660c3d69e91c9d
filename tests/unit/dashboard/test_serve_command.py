"""`equipoise serve`: what is refused before it listens, and what it says of itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from equipoise.core.errors import ConfigError
from equipoise.dashboard.serve import bound
from tests.commands import environment, run_process

from .test_serve import begun


def test_a_port_that_is_taken_is_refused_with_what_to_do() -> None:
    with bound("127.0.0.1", 0) as first:
        first.listen()
        with pytest.raises(ConfigError, match=r"cannot listen on 127\.0\.0\.1") as refused:
            bound("127.0.0.1", first.getsockname()[1])
        assert "--port" in refused.value.fix
    for host in ("192.0.2.1", "no such host"):
        with pytest.raises(ConfigError, match="cannot listen"):
            bound(host, 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "65536"], "there is no port 65536"),
        (["--port", "-1"], "there is no port -1"),
        (["--token-file", "nothing"], "the token cannot be read"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
    ],
)
def test_a_wrong_request_ends_with_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    ended = run_process(tmp_path, "serve", "--store", str(tmp_path / "s.db"), *arguments)
    assert ended.code in {1, 2} if "token" in said else ended.code == 2
    assert said in ended.err


def test_an_address_on_the_network_is_said_to_be_one(tmp_path: Path) -> None:
    process = begun(tmp_path, "--host", "0.0.0.0", "--name", "lab.example")
    try:
        assert process.stdout is not None
        page, sign_in = (process.stdout.readline().split()[1] for _ in range(2))
        assert httpx.get(page).status_code == 401
        token = httpx.URL(sign_in).params["token"]
        answer = httpx.get(page, headers={"host": "lab.example", "authorization": f"Bearer {token}"})
        assert answer.status_code == 200
        assert httpx.get(page, headers={"host": "other.example"}).status_code == 421
        process.terminate()
        _, err = process.communicate(timeout=60)
        assert "open to the network on 0.0.0.0" in err
        assert "without TLS" in err
    finally:
        process.kill()
        process.communicate()


def test_without_the_packages_the_way_to_them_is_said(tmp_path: Path) -> None:
    code = "import sys; sys.modules['fastapi'] = None\nfrom equipoise.cli import main\nmain()"
    ended = subprocess.run(
        [sys.executable, "-c", code, "serve", "--store", str(tmp_path / "s.db")],
        env=environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ended.returncode != 0
    assert "pip install 'equipoise[serve]'" in ended.stderr


def test_help_does_not_need_the_packages(tmp_path: Path) -> None:
    code = "import sys\nfor name in ('fastapi', 'uvicorn', 'torch'): sys.modules[name] = None\n"
    code += "from equipoise.cli import main\nmain()"
    ended = subprocess.run(
        [sys.executable, "-c", code, "serve", "--help"], env=environment(), capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "--token-file" in ended.stdout
