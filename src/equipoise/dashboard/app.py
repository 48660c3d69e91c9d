"""The addresses. Every page answers as HTML or, with `Accept: application/json` or `?format=json`, as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response, StreamingResponse
from starlette.exceptions import HTTPException

from equipoise import __version__
from equipoise.core.errors import EquipoiseError
from equipoise.dashboard import answer, problems, static
from equipoise.dashboard.access import Access
from equipoise.dashboard.answer import AnswerCache
from equipoise.dashboard.charts import Charts, charts
from equipoise.dashboard.doors import Doors
from equipoise.dashboard.feed import TooManyReaders
from equipoise.dashboard.orders import orders
from equipoise.dashboard.pages.compare import ComparePage, compare_page
from equipoise.dashboard.pages.map import MapPage, MapRange, map_page
from equipoise.dashboard.pages.run import RunPage, run_page
from equipoise.dashboard.pages.runs import RunFilter, RunsPage, runs_page
from equipoise.dashboard.pages.start import StartPage, start_page
from equipoise.dashboard.pages.sweep import SweepPage, sweep_page
from equipoise.dashboard.view import Dashboard
from equipoise.store.read import find_run
from equipoise.store.read import runs as every_run


def app(board: Dashboard, access: Access) -> FastAPI:
    made = FastAPI(
        title="Equipoise",
        version=__version__,
        summary="The runs of one store: reading is GET; actions are POST and need the token.",
        docs_url=None,
        redoc_url=None,
        lifespan=partial(_lifespan, board),
    )
    made.add_middleware(Doors, access=access)
    for kind in (EquipoiseError, RequestValidationError, HTTPException):
        made.add_exception_handler(kind, problems.answer)
    made.include_router(static.router)
    made.include_router(orders(board))
    _pages(made, board)
    _parts(made, board)
    return made


@asynccontextmanager
async def _lifespan(board: Dashboard, _: FastAPI) -> AsyncIterator[None]:
    watching = asyncio.create_task(board.feed.watch())
    try:
        yield
    finally:
        watching.cancel()
        board.close()


def _pages(made: FastAPI, board: Dashboard) -> None:
    known = AnswerCache(board)

    @made.get("/", **answer.described(RunsPage, "The list of runs, filtered"))
    def runs(request: Request, wanted: Annotated[RunFilter, Query()]) -> Response:
        return known.page(request, "runs", lambda _: runs_page(board, wanted))

    @made.get("/runs/{run_id}", **answer.described(RunPage, "One run"))
    def run(request: Request, run_id: str) -> Response:
        return known.page(request, "run", lambda visitor: run_page(board, find_run(board.store, run_id), visitor))

    @made.get("/sweeps/{name:path}", **answer.described(SweepPage, "One sweep"))
    def sweep(request: Request, name: str) -> Response:
        return known.page(request, "sweep", lambda visitor: sweep_page(board, name, visitor))

    @made.get("/compare", **answer.described(ComparePage, "Runs side by side"))
    def compare(request: Request, run: Annotated[list[str], Query(max_length=50)]) -> Response:
        return known.page(request, "compare", lambda visitor: compare_page(board, run, visitor))

    @made.get("/start", **answer.described(StartPage, "Presets, and what was started from here"))
    def start(request: Request) -> Response:
        return known.page(request, "start", lambda visitor: start_page(board, visitor))


def _parts(made: FastAPI, board: Dashboard) -> None:
    """What pages load beside themselves."""
    known = AnswerCache(board)

    @made.get("/runs/{run_id}/map", **answer.described(MapPage, "Client × checkpoint numbers of one metric"))
    def map_(request: Request, run_id: str, wanted: Annotated[MapRange, Query()]) -> Response:
        return known.data(request, lambda _: map_page(board, find_run(board.store, run_id), wanted))

    @made.get("/runs/{run_id}/charts", **answer.described(Charts, "The report's figures of a run, for Vega-Embed"))
    def charts_(request: Request, run_id: str) -> Response:
        def work(visitor: Any) -> Charts:
            return charts(board.store, find_run(board.store, run_id), visitor.language)

        return known.data(request, work)

    @made.get("/now", summary="How the runs that go on stand", response_model=dict[str, dict[str, Any]])
    def now() -> dict[str, Any]:
        return board.now(every_run(board.store, status="running"))

    @made.get("/changes", summary="Server-sent events: `now` and `changed`", response_class=StreamingResponse)
    async def changes() -> StreamingResponse:
        try:
            reader = board.feed.enter()
        except TooManyReaders:
            raise HTTPException(503, "too many pages are open") from None
        headers = {"X-Accel-Buffering": "no"}  # a proxy in between passes every event on at once
        return StreamingResponse(board.feed.events(reader), media_type="text/event-stream", headers=headers)
