"""Styles and scripts come from here, and nothing else does."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from equipoise.dashboard.static import KINDS, OWN

from .visits import HOST, Visits

ASSETS = files("equipoise.dashboard").joinpath("assets")


@pytest.mark.parametrize("name", [*OWN, "vega.js"])
def test_an_asset_is_served_as_what_it_is(visitors: Visits, name: str) -> None:
    answer = visitors.stranger.get(f"/assets/{name}?v=1")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == KINDS[name.rpartition(".")[2]]
    if name in OWN:
        assert answer.content == ASSETS.joinpath(name).read_bytes()
    else:
        assert b"window.vegaEmbed" in answer.content


def test_every_file_of_the_folder_is_served() -> None:
    assert {path.name for path in ASSETS.iterdir()} == set(OWN)


@pytest.mark.parametrize(
    "path",
    [
        "../__init__.py", "..%2f__init__.py", "%2e%2e/__init__.py", "..%5c__init__.py", "....//__init__.py",
        "%252e%252e%252f__init__.py", "/etc/passwd", "%2fetc%2fpasswd", "live.js%00.css", "live.js/", "LIVE.JS", "",
        ".", "..", "dashboard.css%0d%0a", "live.js%20", "C:%5cwindows", "languages/en.yaml", "..%2flanguages%2fen.yaml",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_folder(visitors: Visits, path: str) -> None:
    answer = visitors.raw("GET", f"/assets/{path}".encode(), headers=[(b"host", HOST.encode())])
    assert answer.status in {404, 307}
    assert b"__future__" not in answer.body
    assert answer.headers.get("location", f"http://{HOST}/").startswith(f"http://{HOST}/")


@pytest.mark.parametrize("name", OWN)
def test_nothing_of_ours_names_another_host(name: str) -> None:
    text = ASSETS.joinpath(name).read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"')]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\beval\(|new Function\(|innerHTML\s*=[^=]|insertAdjacentHTML|document\.write", text)
