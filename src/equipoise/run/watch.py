"""Observers of a run while it goes on: a progress bar, a log, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # who watches a run needs neither torch nor numpy
    from equipoise.core.values import Result
    from equipoise.run.build import Federation
    from equipoise.run.state import Record


class Watch(Protocol):
    def begin(self, run_id: str, federation: Federation, first: int) -> None: ...

    def tick(self, step: int, done: int, total: int, result: Result) -> None: ...

    def checkpoint(self, record: Record) -> None: ...

    def note(self, text: str) -> None: ...

    def end(self) -> None: ...


class Nobody:
    """An observer that shows nothing."""

    def begin(self, run_id: str, federation: Federation, first: int) -> None:
        pass

    def tick(self, step: int, done: int, total: int, result: Result) -> None:
        pass

    def checkpoint(self, record: Record) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def end(self) -> None:
        pass
