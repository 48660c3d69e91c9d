"""The processor time that keeping open pages up to date may cost, so that a run beside them does not notice.

    balance(t + Δ) = min(STOCK, balance(t) + SHARE·Δ − what refreshing cost in Δ)
    a refresh waits until balance > 0, but not longer than LONGEST

What a user asks for, by opening a page or clicking, is answered at once and costs nothing here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SHARE, STOCK, LONGEST = 0.006, 0.3, 20.0
"""Of one core, which leaves room below one per cent for what is not counted, as reading requests; seconds that may be
saved up; and seconds after which a page is refreshed anyway."""


class Budget:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._balance, self._at = STOCK, time.monotonic()
        self._refreshed = time.monotonic()

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Around work that nobody asked for; its processor time is that of this thread."""
        began = time.thread_time()
        try:
            yield
        finally:
            with self._lock:
                self._balance -= time.thread_time() - began

    def may_refresh(self) -> bool:
        """Whether open pages may be refreshed now; if so, they are."""
        with self._lock:
            at = time.monotonic()
            self._balance = min(STOCK, self._balance + SHARE * (at - self._at))
            self._at = at
            if self._balance <= 0 and at - self._refreshed < LONGEST:
                return False
            self._refreshed, self._balance = at, max(self._balance, -SHARE * LONGEST)
            return True
