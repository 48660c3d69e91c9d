"""The styles and scripts of the pages, all from here: nothing is asked of another host."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import vl_convert
from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

router = APIRouter(include_in_schema=False)
KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
OWN = ("dashboard.css", "live.js", "maps.js", "charts.js", "actions.js", "icon.svg")
KEPT = {"Cache-Control": "private, max-age=3600"}


@router.get("/assets/{name}")
def asset(name: str) -> Response:
    if name != "vega.js" and name not in OWN:
        raise HTTPException(404, "there is no such file")
    body = _vega() if name == "vega.js" else _own(name)
    return Response(body, media_type=KINDS[name.rpartition(".")[2]], headers=KEPT)


@cache
def _own(name: str) -> bytes:
    return files("equipoise.dashboard").joinpath("assets", name).read_bytes()


@cache
def _vega() -> bytes:
    """Vega-Embed with everything it needs, as in a report."""
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")).encode()
