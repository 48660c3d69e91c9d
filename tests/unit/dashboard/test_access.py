"""Who may open the dashboard, and under which names."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from equipoise.core.errors import ConfigError, DataError
from equipoise.dashboard.access import access, is_loopback, read_token

TOKEN = "sixteen-signs-ok"


@pytest.mark.parametrize(
    ("host", "is_here"),
    [
        ("127.0.0.1", True), ("127.8.9.10", True), ("localhost", True), ("::1", True), ("0.0.0.0", False),
        ("::", False), ("192.168.0.1", False), ("localhost.evil.example", False), ("", False),
    ],
)  # fmt: skip
def test_reading_is_free_on_loopback_only(host: str, is_here: bool) -> None:
    assert is_loopback(host) == is_here
    assert access(host, 1, TOKEN).reading_is_free == is_here


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "FE80::1", "Lab.example", "192.168.0.1", "0.0.0.0"])
def test_the_address_that_is_printed_is_one_that_is_answered(host: str) -> None:
    made = access(host, 9000, TOKEN)
    assert made.knows(urlsplit(made.address).netloc)


def test_further_names_are_known_in_any_case() -> None:
    made = access("0.0.0.0", 9000, TOKEN, ["Lab.Example"])
    assert made.knows("lab.example:9000")
    assert made.knows("LAB.EXAMPLE")
    assert not made.knows("lab.example:9001")
    assert not made.knows("other.example:9000")


def test_without_a_token_each_start_has_its_own() -> None:
    tokens = {access("127.0.0.1", 1).token for _ in range(20)}
    assert len(tokens) == 20
    assert min(map(len, tokens)) >= 32  # 24 random bytes, six bits a letter


def test_the_cookies_of_two_servers_on_one_host_do_not_meet() -> None:
    assert access("127.0.0.1", 1).cookie != access("127.0.0.1", 2).cookie


def test_any_sign_of_a_token_survives_the_address_that_signs_in() -> None:
    token = "a&b=c#d+e%20;/?é"[:-1] + "xxxx"
    assert parse_qs(urlsplit(access("127.0.0.1", 1, token).sign_in).query)["token"] == [token]


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "token"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_a_token_is_the_first_line_of_its_file(tmp_path: Path) -> None:
    assert read_token(written(tmp_path, f"{TOKEN}\n")) == TOKEN
    assert read_token(written(tmp_path, f"{TOKEN}\nwhose it is\n")) == TOKEN


@pytest.mark.parametrize(
    "text", ["", "\n" + TOKEN, "short", "x" * 15, "with a space in it", "é" * 20, "x" * 20 + "\x07"]
)
def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="16 characters"):
        read_token(written(tmp_path, text))


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o644, 0o620, 0o610])
def test_a_token_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(ConfigError, match="others may read"):
        read_token(written(tmp_path, TOKEN, mode))


def test_a_missing_file_of_the_token_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read") as refused:
        read_token(tmp_path / "nothing")
    assert refused.value.where == str(tmp_path / "nothing")
