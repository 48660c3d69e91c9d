"""Sends a run to Weights & Biases, or writes the files that `wandb sync` sends later.

W&B has a process of its own that writes every point to a file and sends it; a network that is away delays it there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equipoise.config.track import WandbOptions
from equipoise.track.points import Point
from equipoise.track.sink import OpenedRun, TrackedRun

PATIENCE = 20.0
"""Seconds that W&B may take to open or to close a run."""


class WandbSink:
    name = "wandb"

    def __init__(self, options: WandbOptions) -> None:
        self.options = options
        folder = Path(options.folder).absolute()
        project = "/".join(filter(None, (options.entity, options.project)))
        self.folder = folder
        self.place = f"{project} in {folder / 'wandb'}" if options.mode == "offline" else project
        self.run: Any = None

    def open(self, run: TrackedRun, known: str | None) -> OpenedRun:
        import wandb

        self.folder.mkdir(parents=True, exist_ok=True)
        wandb.setup(settings=wandb.Settings(silent=True))  # or it would ask for a key on the terminal of the run
        self.run = wandb.init(
            project=self.options.project,
            entity=self.options.entity,
            id=known or run.run_id,
            name=run.run_id,
            resume="allow",
            reinit="create_new",
            config={**run.settings, "equipoise.run_id": run.run_id, "equipoise.version": run.version},
            settings=self._settings(wandb),
        )
        return OpenedRun(str(self.run.id), is_new=known is None)

    def send(self, points: Sequence[Point]) -> None:
        by_step: defaultdict[int, dict[str, float]] = defaultdict(dict)
        for point in points:
            by_step[point.step][point.tag] = point.value
        for step, values in by_step.items():
            self.run.log(values, step=step)

    def close(self, status: str) -> None:
        self.run.finish(exit_code=0 if status == "done" else 1)

    def _settings(self, wandb: Any) -> Any:
        """Our numbers only: no code, no console, no packages, nothing about the machine."""
        return wandb.Settings(
            mode=self.options.mode,
            root_dir=str(self.folder),
            silent=True,
            console="off",
            init_timeout=PATIENCE,
            finish_timeout=PATIENCE,
            disable_git=True,
            disable_code=True,
            x_disable_stats=True,
            x_disable_meta=True,
            x_disable_machine_info=True,
            x_save_requirements=False,
        )
