"""The address with the token: it leaves a cookie, and leads nowhere else."""

from __future__ import annotations

import pytest

from .visits import HOST, PORT, TOKEN, Visits


@pytest.mark.parametrize("token", ["", "wrong", f"{TOKEN}x", TOKEN[:-1], "%00", "%ff", "☃"])
def test_a_wrong_token_opens_nothing_and_leaves_no_cookie(visitors: Visits, token: str) -> None:
    answer = visitors.stranger.get(f"/?token={token}")
    assert (answer.status_code, answer.headers.get("set-cookie")) == (401, None)
    assert visitors.stranger.get(f"/?token={TOKEN}&token={token}").status_code == 401


def test_the_right_token_leaves_a_cookie_that_scripts_and_other_sites_do_not_get(visitors: Visits) -> None:
    answer = visitors.stranger.get(f"/compare?run=a&token={TOKEN}&run=b%26c&lang=zh")
    assert (answer.status_code, answer.headers["location"]) == (303, "/compare?run=a&run=b%26c&lang=zh")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"equipoise-{PORT}={TOKEN}")
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in cookie.split(";")}


@pytest.mark.parametrize("path", [b"//evil.example", b"/%2Fevil.example", b"/\\evil.example", b"/%5Cevil.example",
                                  b"/%0d%0aset-cookie:a=b", b"/%09/evil.example", b"http://evil.example/",
                                  b"///evil.example", b"/\r\nx: y", b"/%E2%98%83"])  # fmt: skip
@pytest.mark.parametrize("query", [b"", b"lang=%0d%0aset-cookie:a=b&"])
def test_signing_in_leads_nowhere_else(visitors: Visits, path: bytes, query: bytes) -> None:
    answer = visitors.raw("GET", path, query + f"token={TOKEN}".encode())
    to = answer.headers["location"]
    assert answer.status == 303
    assert to.startswith("/")
    assert not to.startswith(("//", "/\\"))
    assert to.isascii()
    assert to.isprintable()
    assert TOKEN not in to
    assert answer.headers["set-cookie"].count("=a=b") == 0


def test_the_token_is_found_among_the_cookies_of_other_programs(visitors: Visits) -> None:
    cookie = f'theme={{"a": 1}}; x="2|1:0|y"; equipoise-{PORT}={TOKEN}; broken; é=ü'
    answer = visitors.raw(
        "GET", b"/start", b"format=json", headers=[(b"host", HOST.encode()), (b"cookie", cookie.encode())]
    )
    assert b'"may_act":true' in answer.body
