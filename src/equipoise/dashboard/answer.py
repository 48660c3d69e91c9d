"""Turns content into an answer, HTML or JSON; open pages that refresh share what was rendered once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel

from equipoise.dashboard import render
from equipoise.dashboard.doors import SIGNED_IN
from equipoise.dashboard.view import Dashboard, Visitor
from equipoise.dashboard.words import chosen

PART = "x-part"
"""The header of an open page that asks for what changed on it."""
LANGUAGE = "equipoise-language"
KEPT = 64
"""Answers that are kept for other open pages."""
Content = Callable[[Visitor], BaseModel]


class Known:
    def __init__(self, board: Dashboard) -> None:
        self.board = board
        self._kept: OrderedDict[tuple[Any, ...], tuple[object, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, request: Request, name: str, content: Content) -> Response:
        if wants_json(request):
            return self.data(request, content)
        visitor, is_part = visitor_of(request), PART in request.headers
        address = str(request.url.path) + (f"?{request.url.query}" if request.url.query else "")

        def work() -> bytes:
            return render.page(name, content(visitor), visitor, address=address, part=is_part).encode()

        answer = HTMLResponse(self._done(request, ("page", visitor.language, visitor.may_act), work))
        answer.headers["Vary"] = "Accept, Cookie, X-Part"
        if request.query_params.get("lang") == visitor.language:
            answer.set_cookie(LANGUAGE, visitor.language, samesite="strict", max_age=365 * 86400)
        return answer

    def data(self, request: Request, content: Content) -> Response:
        visitor = visitor_of(request)
        body = self._done(
            request, ("json", visitor.language, visitor.may_act), lambda: content(visitor).model_dump_json().encode()
        )
        return Response(body, media_type="application/json")

    def _done(self, request: Request, kind: tuple[Any, ...], work: Callable[[], bytes]) -> bytes:
        """The body; for a page that refreshes itself, the one that another such page got since the last change."""
        is_refresh = PART in request.headers
        if not is_refresh:
            return work()
        key, due = (request.url.path, request.url.query, *kind), self.board.feed.told
        with self._lock:
            at, body = self._kept.get(key, (None, b""))
            if at != due:
                with self.board.budget.spending():
                    body = work()
                self._kept[key] = (due, body)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return body


def visitor_of(request: Request) -> Visitor:
    accepted = request.headers.get("accept-language", "")
    language = chosen(request.query_params.get("lang"), request.cookies.get(LANGUAGE), accepted)
    return Visitor(language, bool(getattr(request.state, SIGNED_IN, False)))


def wants_json(request: Request) -> bool:
    accepted = request.headers.get("accept", "")
    return request.query_params.get("format") == "json" or (
        "application/json" in accepted and "text/html" not in accepted
    )


def described(model: type[BaseModel], summary: str) -> dict[str, Any]:
    """For the schema at /openapi.json."""
    content: dict[str, Any] = {"text/html": {}, "application/json": {}}
    return {
        "summary": summary,
        "response_class": Response,
        "responses": {200: {"model": model, "content": content, "description": summary}},
    }
