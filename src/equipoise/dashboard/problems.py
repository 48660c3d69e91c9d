"""Errors as answers: what happened, and what to do next; as HTML for a browser, as JSON for a program."""

from __future__ import annotations

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from equipoise.core.errors import ConfigError, EquipoiseError, NoSuchRun
from equipoise.dashboard import render
from equipoise.dashboard.answer import visitor_of, wants_json
from equipoise.dashboard.doors import OURS


class Problems(BaseModel):
    status: int
    error: str
    next: str


def answer(request: Request, error: Exception) -> Response:
    said = _said(error)
    if wants_json(request) or OURS in request.headers or request.method == "POST":
        return JSONResponse(said.model_dump(), said.status)
    visitor = visitor_of(request)
    return HTMLResponse(render.page("problem", said, visitor, address=str(request.url.path)), said.status)


def _said(error: Exception) -> Problems:
    match error:
        case NoSuchRun():
            return Problems(status=404, error=error.what, next=error.fix)
        case ConfigError():
            return Problems(status=400, error=error.what, next=error.fix)
        case EquipoiseError():
            return Problems(status=503, error=error.what, next=error.fix)
        case RequestValidationError():
            wrong = [f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors()[:10]]
            return Problems(status=422, error="; ".join(wrong), next="/openapi.json describes what can be asked")
        case HTTPException():
            return Problems(status=error.status_code, error=str(error.detail), next="")
    raise error
