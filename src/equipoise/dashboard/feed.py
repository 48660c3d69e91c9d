"""Tells open pages what changed, as server-sent events; one look at the store serves all of them.

event: now        how the runs that go on stand                    small, sent every few seconds
event: changed    the runs whose pages are out of date             sent when the budget allows to render them again
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator

from equipoise.dashboard.budget import Budget
from equipoise.dashboard.changes import Changes, said

POLL, KEEP_ALIVE = 1.0, 15.0
"""Seconds between two looks at the store; and after which silence is broken, so that a lost reader is noticed."""
MOST_READERS = 64


class TooManyReaders(Exception):
    pass


class ChangeFeed:
    def __init__(self, changes: Changes, budget: Budget) -> None:
        self.changes, self.budget = changes, budget
        self.readers: set[asyncio.Queue[str]] = set()
        self.is_over = False
        self.told = 0
        """How often open pages were told that something changed."""
        self._due: set[str] = set()
        self._mentioned: deque[str] = deque()
        self._said = ""

    async def watch(self) -> None:
        """Until the server ends."""
        while not self.is_over:
            if self.readers:
                await self._look()
            await asyncio.sleep(POLL)

    async def _look(self) -> None:
        self._due |= await asyncio.to_thread(self._changed)
        while self._mentioned:
            self._due.add(self._mentioned.popleft())
        now = json.dumps({run_id: said(row) for run_id, row in self.changes.now.items()})
        if now != self._said:
            self._said = now
            self._tell("now", now)
        if self._due and self.budget.may_refresh():
            self.told += 1
            self._tell("changed", json.dumps(sorted(self._due)))
            self._due.clear()

    def _changed(self) -> set[str]:
        with self.budget.spending():
            return self.changes.look()

    def _tell(self, event: str, data: str) -> None:
        for reader in self.readers:
            if reader.qsize() < 16:  # a page that does not read gets everything with the next change
                reader.put_nowait(f"event: {event}\ndata: {data}\n\n")

    def mention(self, subject: str) -> None:
        """There is something new about a run or a sweep that is not a change of the store."""
        self._mentioned.append(subject)

    def enter(self) -> asyncio.Queue[str]:
        if len(self.readers) >= MOST_READERS:
            raise TooManyReaders
        return asyncio.Queue()

    async def events(self, reader: asyncio.Queue[str]) -> AsyncIterator[str]:
        """What one open page hears."""
        self.readers.add(reader)  # only now: a page that went away at once would never be let go of
        try:
            yield f"retry: 2000\nevent: now\ndata: {self._said or '{}'}\n\n"
            heard = time.monotonic()
            while not self.is_over:
                try:
                    yield await asyncio.wait_for(reader.get(), POLL)
                    heard = time.monotonic()
                except TimeoutError:
                    if time.monotonic() - heard > KEEP_ALIVE:
                        heard = time.monotonic()
                        yield ": still here\n\n"
        finally:
            self.readers.discard(reader)
