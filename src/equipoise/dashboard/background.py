"""Slow answers are worked out by a thread in the background: a page shows what is known, and is told of more."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from equipoise.core.errors import EquipoiseError
from equipoise.dashboard.budget import Budget

T = TypeVar("T")
KEPT = 200
"""Answers that are kept."""
LOG = logging.getLogger("equipoise.dashboard")


class Background:
    def __init__(self, tell: Callable[[str], None], budget: Budget) -> None:
        """`tell` is called with the subject of an answer when the answer is new."""
        self.tell, self.budget = tell, budget
        self._known: OrderedDict[Hashable, tuple[object, Any]] = OrderedDict()
        self._under_way: set[Hashable] = set()
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(1, "background")

    def answer(self, about: tuple[str, ...], due: object, work: Callable[[], T], before: T) -> T:
        """The newest answer about that, `before` if there is none yet; `work` begins if it is not of this `due`.

        `about[0]` is the subject, such as a run's id.
        """
        with self._lock:
            at, known = self._known.get(about, (None, before))
            newest: T = known
            if at != due and about not in self._under_way:
                self._under_way.add(about)
                self._worker.submit(self._work_out, about, due, work)
        return newest

    def _work_out(self, about: tuple[str, ...], due: object, work: Callable[[], Any]) -> None:
        try:
            with self.budget.spending():
                found = work()
        except EquipoiseError as error:  # the page keeps what it has; the next change tries again
            LOG.warning("%s: %s", " ".join(about), error)
            return
        else:
            with self._lock:
                self._known[about] = (due, found)
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
        finally:
            with self._lock:
                self._under_way.discard(about)
        self.tell(about[0])

    def close(self) -> None:
        self._worker.shutdown(wait=False, cancel_futures=True)
