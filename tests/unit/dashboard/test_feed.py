"""Open pages hear what changed, within the budget, and are let go of when they leave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from equipoise.dashboard import feed as module
from equipoise.dashboard.feed import MOST_READERS, ChangeFeed, TooManyReaders
from equipoise.dashboard.view import Dashboard
from equipoise.store import write
from equipoise.store.locks import hold
from equipoise.store.watching import set_progress

from .conftest import written_run
from .visits import Visits

RUN = "fedavg-000001"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL", 0.02)


def parsed(text: str) -> tuple[str, object]:
    fields = dict(line.split(": ", 1) for line in text.strip().splitlines())
    return fields["event"], json.loads(fields["data"])


def listening(feed: ChangeFeed, meanwhile: Callable[[AsyncIterator[str]], Awaitable[None]]) -> None:
    async def work() -> None:
        watching = asyncio.create_task(feed.watch())
        heard = feed.events(feed.enter())
        try:
            await asyncio.wait_for(meanwhile(heard), 60)
        finally:
            await heard.aclose()
            watching.cancel()

    asyncio.run(work())


async def next_of(heard: AsyncIterator[str], event: str) -> object:
    async for text in heard:
        name, data = parsed(text)
        if name == event:
            return data
    raise AssertionError("the stream ended")


def test_a_reader_hears_how_things_stand_and_then_what_changes(board: Dashboard) -> None:
    async def meanwhile(heard: AsyncIterator[str]) -> None:
        assert "retry: 2000" in (first := await anext(heard))
        assert parsed(first) == ("now", {})
        written_run(board.store)
        assert await next_of(heard, "changed") == [RUN]
        with hold(board.store, RUN):
            set_progress(board.store, RUN, {"step": 1, "steps": 3, "share": 0.5})
            now = await next_of(heard, "now")
            while now == {RUN: {}}:
                now = await next_of(heard, "now")
            assert {key: now[RUN][key] for key in ("step", "steps", "share")} == {"step": 1, "steps": 3, "share": 0.5}
        write.finish(board.store, RUN, "done")
        assert await next_of(heard, "changed") == [RUN]

    listening(board.feed, meanwhile)


def test_what_is_said_of_a_background_answer_reaches_readers(board: Dashboard) -> None:
    async def meanwhile(heard: AsyncIterator[str]) -> None:
        await anext(heard)
        board.feed.mention("sweep:a b")
        assert await next_of(heard, "changed") == ["sweep:a b"]

    listening(board.feed, meanwhile)
    assert board.feed.told == 1


def test_changes_wait_for_the_budget_and_are_then_told_together(
    board: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    may = [False]
    monkeypatch.setattr(board.feed.budget, "may_refresh", lambda: may[0])

    async def meanwhile(heard: AsyncIterator[str]) -> None:
        await anext(heard)
        for subject in ("a", "b"):
            board.feed.mention(subject)
            await asyncio.sleep(0.1)
        assert board.feed.told == 0
        may[0] = True
        assert await next_of(heard, "changed") == ["a", "b"]

    listening(board.feed, meanwhile)


def test_a_silent_stream_is_kept_open(board: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEEP_ALIVE", 0.0)

    async def meanwhile(heard: AsyncIterator[str]) -> None:
        await anext(heard)
        while not (await anext(heard)).startswith(":"):  # a comment, which browsers ignore
            pass

    listening(board.feed, meanwhile)


def test_nobody_looks_at_the_store_for_nobody(board: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(board.feed.changes, "look", lambda: looks.append(1) or set())

    async def work() -> None:
        watching = asyncio.create_task(board.feed.watch())
        await asyncio.sleep(0.2)
        watching.cancel()

    asyncio.run(work())
    assert looks == []


def test_there_is_a_largest_number_of_readers_and_each_that_leaves_makes_room(board: Dashboard) -> None:
    feed = board.feed

    async def work() -> None:
        streams = [feed.events(feed.enter()) for _ in range(MOST_READERS)]
        for stream in streams:
            await anext(stream)
        with pytest.raises(TooManyReaders):
            feed.enter()
        await streams[0].aclose()
        feed.enter()

    asyncio.run(work())


def test_a_page_that_left_before_it_heard_anything_takes_no_place(board: Dashboard) -> None:
    async def work() -> None:
        for _ in range(3 * MOST_READERS):
            await board.feed.events(board.feed.enter()).aclose()

    asyncio.run(work())
    assert board.feed.readers == set()


def test_a_reader_that_does_not_read_does_not_fill_memory(board: Dashboard) -> None:
    async def work() -> None:
        stream = board.feed.events(board.feed.enter())
        await anext(stream)
        for _ in range(1000):
            board.feed._tell("changed", "[]")
        [reader] = board.feed.readers
        assert reader.qsize() <= 16
        await stream.aclose()

    asyncio.run(work())


def test_one_page_too_many_is_told_so(own: Visits, board: Dashboard) -> None:
    board.feed.readers |= {asyncio.Queue() for _ in range(MOST_READERS)}
    answer = own.stranger.get("/changes", headers={"accept": "application/json"})
    assert answer.status_code == 503
    assert "too many pages" in answer.json()["error"]


def test_no_line_of_an_event_can_be_forged(board: Dashboard) -> None:
    async def meanwhile(heard: AsyncIterator[str]) -> None:
        await anext(heard)
        board.feed.mention("a\n\nevent: now\ndata: {}")
        text = await anext(heard)
        while not text.startswith("event: changed"):
            text = await anext(heard)
        assert text.count("\n") == 3
        assert parsed(text) == ("changed", ["a\n\nevent: now\ndata: {}"])

    listening(board.feed, meanwhile)
