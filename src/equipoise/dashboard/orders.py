"""Actions as addresses. Each needs the token; `doors` has checked it before anything here is called."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from equipoise.dashboard.actions import checked
from equipoise.dashboard.pages.start import CheckedOrder, Order, ShownJob, shown_job
from equipoise.dashboard.view import Dashboard


class Asked(BaseModel):
    run_id: str
    action: str


def orders(board: Dashboard) -> APIRouter:
    router = APIRouter()

    @router.post("/runs/{run_id}/stop", status_code=202, summary="Ask a run to stop at its next checkpoint")
    def stop(run_id: str) -> Asked:
        return Asked(run_id=board.actions.stop(run_id), action="stop")

    @router.post("/runs/{run_id}/resume", status_code=202, summary="Resume a run in a process of its own")
    def resume(run_id: str) -> ShownJob:
        return shown_job(board.actions.resume(run_id))

    @router.post("/start/check", summary="The configuration that an order stands for; nothing is started")
    def check(order: Order) -> CheckedOrder:
        return CheckedOrder(config=checked(order.preset, order.settings))

    @router.post("/start", status_code=202, summary="Start a run in a process of its own")
    def start(order: Order) -> ShownJob:
        return shown_job(board.actions.start(order.preset, order.settings))

    return router
