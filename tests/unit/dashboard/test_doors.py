"""A stranger's page can neither read nor act, and nobody can ask for more than a page may hold."""

from __future__ import annotations

import pytest

from equipoise.dashboard.access import access
from equipoise.dashboard.doors import HEADERS, LARGEST_BODY, LONGEST_PATH, LONGEST_QUERY
from equipoise.dashboard.view import Dashboard

from .visits import ACTING, HERE, HOST, PORT, TOKEN, Visits, visits

PAGES = ("/", "/start", "/now", "/openapi.json", "/assets/live.js")
HOSTS = [
    "evil.example", f"evil.example:{PORT}", "127.0.0.1:1", "127.0.0.1.evil.example", f"127.0.0.1:{PORT}.evil.example",
    f"evil.example@127.0.0.1:{PORT}", "", f"127.0.0.1:{PORT}, evil.example", "localhost.", "0.0.0.0", "[::2]",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_was_pointed_at_this_machine_reads_nothing(visitors: Visits, host: str) -> None:
    for client in (visitors.stranger, visitors.owner):
        answer = client.get("/", headers={"host": host})
        assert answer.status_code == 421
        assert "fedavg" not in answer.text


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}", "127.0.0.1"])
def test_the_names_of_this_machine_open_pages(visitors: Visits, host: str) -> None:
    assert visitors.stranger.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("second", [HOST.encode(), b"evil.example"])
def test_host_is_given_once(visitors: Visits, second: bytes) -> None:
    assert visitors.raw("GET", b"/", headers=[(b"host", HOST.encode()), (b"host", second)]).status == 421
    assert visitors.raw("GET", b"/", headers=[(b"accept", b"*/*")]).status == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "", f"http://localhost:{PORT}", "http://127.0.0.1", f"{HERE}.evil.example"],
)
@pytest.mark.parametrize("page", PAGES)
def test_another_origin_reads_nothing(visitors: Visits, origin: str, page: str) -> None:
    answer = visitors.owner.get(page, headers={"origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something-new"])
@pytest.mark.parametrize("mode", ["no-cors", "cors", "websocket", ""])
def test_a_browser_that_says_who_asks_is_believed(visitors: Visits, site: str, mode: str) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
    assert visitors.owner.get("/", headers=headers).status_code == 403
    assert (
        visitors.owner.post("/start/check", headers={**ACTING, **headers}, json={"preset": "fedavg"}).status_code == 403
    )


def test_a_link_elsewhere_may_open_a_page_and_a_form_elsewhere_may_not_act(visitors: Visits) -> None:
    navigate = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    opened = visitors.stranger.get("/", headers=navigate)
    assert opened.status_code == 200
    assert "frame-ancestors 'none'" in opened.headers["content-security-policy"]
    assert (
        visitors.owner.post("/start/check", headers={**ACTING, **navigate}, json={"preset": "fedavg"}).status_code
        == 403
    )


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"cookie": f"equipoise-{PORT}=wrong"},
        {"cookie": f"equipoise-{PORT + 1}={TOKEN}"},
        {"cookie": f"equipoise-{PORT}={TOKEN}", "authorization": "Bearer wrong"},
    ],
)
@pytest.mark.parametrize("address", ["/start", "/start/check", "/runs/latest/stop", "/runs/latest/resume"])
def test_nobody_acts_without_the_token(visitors: Visits, headers: dict[str, str], address: str) -> None:
    order = {"preset": "fedavg", "settings": []}
    for query in ("", f"?token={TOKEN}"):
        answer = visitors.stranger.post(f"{address}{query}", headers={"x-equipoise": "1", **headers}, json=order)
        assert answer.status_code == 401
    assert visitors.owner.get("/start?format=json").json()["jobs"] == []


def test_a_form_of_another_page_cannot_act_with_the_cookie(visitors: Visits) -> None:
    order = '{"preset": "fedavg"}'
    kinds = [
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain",
        "",
        "text/plain;application/json",
    ]
    for kind in kinds:
        headers = {"x-equipoise": "1", "content-type": kind}
        assert visitors.owner.post("/start/check", content=order, headers=headers).status_code == 403
    headers = {"content-type": "application/json"}
    assert visitors.owner.post("/start/check", content=order, headers=headers).status_code == 403
    assert visitors.owner.post("/start/check", content=order, headers={**headers, **ACTING}).status_code == 200


def posted(visitors: Visits, body: bytes, *lengths: bytes) -> int:
    given = {"host": HOST, "content-type": "application/json", **ACTING}
    pairs = [(name.encode(), value.encode()) for name, value in given.items()]
    pairs += [(b"content-length", length) for length in lengths]
    return visitors.raw("POST", b"/start/check", headers=pairs, body=body).status


@pytest.mark.parametrize(
    "length", [str(LARGEST_BODY + 1).encode(), b"9" * 5000, b"-1", b"1e3", b"", "²".encode(), "٣".encode()]
)
def test_an_action_is_not_longer_than_an_action(visitors: Visits, length: bytes) -> None:
    assert posted(visitors, b'{"preset": "fedavg"}', length) == 413


def test_an_action_of_unknown_length_is_refused(visitors: Visits) -> None:
    assert posted(visitors, b'{"preset": "fedavg"}') == 413


def test_a_body_that_is_longer_than_it_said_is_not_read(visitors: Visits) -> None:
    order = b'{"preset": "fedavg"}'
    assert posted(visitors, order, str(len(order)).encode()) == 200
    assert 400 <= posted(visitors, order + b" " * LARGEST_BODY, b"20") < 500


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", ""])
def test_other_methods_are_refused(visitors: Visits, method: str) -> None:
    assert visitors.raw(method, b"/").status == 405


@pytest.mark.parametrize("path", [b"/", b"/start/check", b"/runs/latest/stop", b"/assets/live.js"])
def test_an_address_answers_its_own_method_only(visitors: Visits, path: bytes) -> None:
    wrong = "GET" if path.endswith((b"check", b"stop")) else "POST"
    given = {"host": HOST, "content-type": "application/json", "content-length": "2", **ACTING}
    pairs = [(name.encode(), value.encode()) for name, value in given.items()]
    assert visitors.raw(wrong, path, headers=pairs, body=b"{}").status in {404, 405}


def test_addresses_have_a_largest_size(visitors: Visits) -> None:
    host = [(b"host", HOST.encode())]
    assert visitors.raw("GET", b"/" + b"x" * (LONGEST_PATH - 1), headers=host).status == 404
    assert visitors.raw("GET", b"/" + b"x" * LONGEST_PATH, headers=host).status == 414
    assert visitors.raw("GET", b"/" + b"%41" * LONGEST_PATH, headers=host).status == 414
    assert visitors.raw("GET", b"/", b"a=&" * (LONGEST_QUERY // 3), headers=host).status == 200
    assert visitors.raw("GET", b"/", b"x" * (LONGEST_QUERY + 1), headers=host).status == 414


def test_no_web_socket_opens(visitors: Visits) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect) as refused, visitors.owner.websocket_connect("/changes"):
        pass
    assert refused.value.code == 1008


@pytest.mark.parametrize("path", ["/", "/nowhere", "/assets/live.js", "/start?format=json", "/?token=wrong"])
def test_every_answer_has_the_headers(visitors: Visits, path: str) -> None:
    answer = visitors.stranger.get(path)
    for name, value in HEADERS.items():
        if name != "Cache-Control" or not path.startswith("/assets/"):
            assert answer.headers[name] == value


def test_on_the_network_reading_needs_the_token_too(shared: Dashboard) -> None:
    there = visits(shared, access("192.168.7.7", PORT, TOKEN))
    for page in PAGES:
        assert there.stranger.get(page).status_code == 401
        assert there.owner.get(page).status_code == 200
    assert there.stranger.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert there.stranger.get(f"/?token={TOKEN}").status_code == 303
