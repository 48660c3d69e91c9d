"""Tells the three stories one after another, each as soon as its runs are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.api.demo import healing, killing, policies, servers, skew
from equipoise.api.demo.cells import finished
from equipoise.api.demo.part import Story
from equipoise.api.place import located

if TYPE_CHECKING:
    from equipoise.api.sweep import FollowsSweep, SweepHandle


@dataclass(frozen=True)
class Setting:
    """How the demo runs."""

    seeds: int
    store: str
    progress: FollowsSweep
    folder: Path
    """For what is written beside the store."""
    note: Callable[[str], None]
    """Told what happens beside the sweeps."""

    def sweep(self, study: str) -> SweepHandle:
        return finished(study, self.seeds, self.store, self.progress)

    @property
    def page(self) -> Path:
        """The report of the policy that ran away, beside the same runs healed."""
        return self.folder / "demo-report.html"


def stories(setting: Setting) -> Iterator[Story]:
    """The stories; after the last one the page is written."""
    by_skew = skew.measured(setting.sweep(skew.STUDY))
    balanced = setting.sweep(policies.STUDY)
    chosen = servers.measured(setting.sweep(servers.STUDY))
    yield Story("One upload, any skew", [by_skew, policies.measured(balanced), chosen])
    yield Story("A policy that runs away, and is healed", [healing.measured(balanced)])
    whole = next(run for run in balanced.runs if balanced.labels[run.id] == killing.POLICY)
    program = killing.Program(located(setting.folder / "demo-killed.db"))
    yield Story("kill -9, resume, the same numbers", [killing.measured(whole, program, setting.note)])
    report(balanced, setting.page)


def report(found: SweepHandle, page: Path) -> None:
    from equipoise.api.place import existing
    from equipoise.report.files import write_text
    from equipoise.report.gather import gather
    from equipoise.report.html import html
    from equipoise.store.read import find_run

    shown = (healing.POLICY, healing.POLICY + policies.GUARDED)
    labels = {run_id: label for run_id, label in found.labels.items() if label in shown}
    with existing(found.store) as opened:
        gathered = gather(opened, [find_run(opened, run_id) for run_id in labels], labels, "en")
    write_text(page, html(gathered))
