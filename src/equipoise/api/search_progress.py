"""Following a search: one line on stderr for each trial that is over, with the best so far."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipoise.store.searches import TrialRecord


class SearchProgress:
    def __enter__(self) -> Callable[[Sequence[TrialRecord], int], None]:
        self.reported: set[int] = set()
        return self.follow

    def __exit__(self, *exc: object) -> None:
        pass

    def follow(self, trials: Sequence[TrialRecord], budget: int) -> None:
        from equipoise.store.searches import best_trial, settings_text

        best = best_trial(trials)
        for trial in trials:
            if trial.is_over and trial.number not in self.reported:
                self.reported.add(trial.number)
                score = "" if trial.score is None else f"  validation {trial.score:.4f}"
                top = "" if best is None else f"  best {best.score:.4f} ({best.label})"
                error = f": {trial.error}" if trial.state == "failed" else ""
                text = f"{len(self.reported)}/{budget}  {trial.label}  {settings_text(trial.settings)}"
                print(f"{text}  {trial.state}{score}{top}{error}", file=sys.stderr)
