"""Every request passes here before any page sees it, and every answer gets its headers here.

whose page is it?     Host must be a name of ours; a page of another site may neither read nor act
who asks?             the token, from the cookie or as `Authorization: Bearer …`
how much?             addresses, queries and bodies have a largest size
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from equipoise.dashboard.access import Access

LONGEST_PATH, LONGEST_QUERY, LARGEST_BODY = 512, 4096, 65536
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
OURS = "x-equipoise"
"""A header that only scripts of our own pages send: a form of another site cannot."""
SIGNED_IN = "signed_in"
"""The key in the request's state: whether it came with the token."""


class Refused(Exception):
    def __init__(self, status: HTTPStatus, text: str) -> None:
        self.status, self.text = status, text


class Doors:
    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no page of ours opens a web socket
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            answer = self._checked(scope)
        except Refused as refused:
            answer = PlainTextResponse(f"{refused.text}\n", refused.status)
        if answer is not None:
            await answer(scope, receive, self._dressed(send))
        else:
            await self.app(scope, _limited(receive), self._dressed(send))

    def _checked(self, scope: Scope) -> Response | None:
        """None if the request may pass; otherwise the answer."""
        headers = Headers(scope=scope)
        if len(scope["raw_path"] or b"") > LONGEST_PATH or len(scope["query_string"]) > LONGEST_QUERY:
            raise Refused(HTTPStatus.REQUEST_URI_TOO_LONG, "this address is too long")
        host = headers.getlist("host")
        if len(host) != 1 or not self.access.knows(host[0]):
            text = "this name is not one of this server's; `equipoise serve --name NAME` adds one"
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, text)
        if scope["method"] not in {"GET", "HEAD", "POST"}:
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "pages are read with GET; actions are POST")
        self._refuse_other_sites(headers, scope["method"], host[0])
        if (entered := self._signing_in(scope)) is not None:
            return entered
        is_in = self._is_signed_in(headers)
        scope.setdefault("state", {})[SIGNED_IN] = is_in
        if not is_in and not self.access.reading_is_free:
            raise Refused(HTTPStatus.UNAUTHORIZED, "open the address that `equipoise serve` printed, with its token")
        if scope["method"] == "POST":
            self._check_action(headers, is_in)
        return None

    def _refuse_other_sites(self, headers: Headers, method: str, host: str) -> None:
        """A link from elsewhere may open a page; nothing else from elsewhere gets in."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        is_link = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if origin not in {None, f"http://{host}", f"https://{host}"}:
            raise Refused(HTTPStatus.FORBIDDEN, "another site's page may not ask here")
        if site not in {"same-origin", "none"} and not is_link:
            raise Refused(HTTPStatus.FORBIDDEN, "another site's page may not ask here")

    def _signing_in(self, scope: Scope) -> Response | None:
        """An address with the token leaves a cookie and goes on without it, so that it stays in no address bar."""
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        token = query.pop("token", None)
        if token is None or scope["method"] != "GET":
            return None
        if not self.access.admits(token):
            raise Refused(HTTPStatus.UNAUTHORIZED, "this is not the token of this server")
        there = scope["path"] if scope["path"].isascii() and not scope["path"].startswith("//") else "/"
        answer = RedirectResponse(f"{there}?{urlencode(query)}" if query else there, HTTPStatus.SEE_OTHER)
        answer.set_cookie(self.access.cookie, token, httponly=True, samesite="strict", path="/")
        return answer

    def _is_signed_in(self, headers: Headers) -> bool:
        given = headers.get("authorization", "")
        if given.startswith("Bearer "):
            return self.access.admits(given.removeprefix("Bearer "))
        return self.access.admits(_cookies(headers.get("cookie", "")).get(self.access.cookie, ""))

    def _check_action(self, headers: Headers, is_in: bool) -> None:
        if not is_in:
            raise Refused(HTTPStatus.UNAUTHORIZED, "actions need the token that `equipoise serve` printed")
        if OURS not in headers or headers.get("content-type", "").partition(";")[0] != "application/json":
            raise Refused(HTTPStatus.FORBIDDEN, f"an action is JSON with the header {OURS}")
        length = headers.get("content-length", "")
        if not length.isascii() or not length.isdigit() or int(length) > LARGEST_BODY:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"an action has at most {LARGEST_BODY} bytes")

    def _dressed(self, send: Send) -> Send:
        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        return dressed


def _limited(receive: Receive) -> Receive:
    """A body that is longer than it said ends the connection."""
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return message if seen <= LARGEST_BODY else {"type": "http.disconnect"}

    return limited


def _cookies(text: str) -> Mapping[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(text).items()}
    except CookieError:
        return {}
