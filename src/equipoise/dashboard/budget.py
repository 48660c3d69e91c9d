"""The processor time that open pages may cost: one per cent of one core, so that a run beside them does not notice.

    balance(t + Δ) = min(STOCK, balance(t) + SHARE·Δ − what refreshing cost in Δ)     a refresh waits for balance > 0

What a user asks for, by opening a page or clicking, is answered at once and is not counted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SHARE, STOCK = 0.01, 0.5
"""Of one core; and seconds that may be saved up."""


class Budget:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._balance, self._asked = STOCK, 0.0
        self._at, self._spent = time.monotonic(), time.process_time()

    @contextmanager
    def asked_for(self) -> Iterator[None]:
        """Around work that a user waits for."""
        began = time.thread_time()
        try:
            yield
        finally:
            with self._lock:
                self._asked += time.thread_time() - began

    def has_some(self) -> bool:
        """Whether open pages may be refreshed now."""
        with self._lock:
            at, spent = time.monotonic(), time.process_time()
            cost = max(0.0, spent - self._spent - self._asked)
            self._balance = min(STOCK, self._balance + SHARE * (at - self._at) - cost)
            self._at, self._spent, self._asked = at, spent, 0.0
            return self._balance > 0
