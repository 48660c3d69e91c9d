"""Starting a run from a preset, and what was started from here."""

from __future__ import annotations

from pydantic import BaseModel, Field

from equipoise.dashboard.actions import Job, presets
from equipoise.dashboard.view import Dashboard, Visitor

STOPPED = 130
"""The exit code of a run that was stopped."""


class ShownJob(BaseModel):
    """A command that was started from a page."""

    number: int
    what: str
    state: str
    """running, done, stopped, or failed."""
    exit_code: int | None
    run_id: str | None
    output: str


class StartPage(BaseModel):
    presets: list[str]
    jobs: list[ShownJob]
    may_act: bool


class Order(BaseModel):
    """A run to start: a preset, and settings as on the command line."""

    preset: str = Field(max_length=200)
    settings: list[str] = Field(default=[], max_length=100)


class CheckedOrder(BaseModel):
    """The whole configuration that an order stands for, as YAML."""

    config: str


def start_page(board: Dashboard, visitor: Visitor) -> StartPage:
    jobs = [shown_job(job) for job in reversed(board.actions.jobs)] if visitor.may_act else []
    return StartPage(presets=presets(), jobs=jobs, may_act=visitor.may_act)


def shown_job(job: Job) -> ShownJob:
    code = job.exit_code
    state = "running" if code is None else {0: "done", STOPPED: "stopped"}.get(code, "failed")
    return ShownJob(number=job.number, what=job.what, state=state, exit_code=code, run_id=job.run_id, output=job.output)
