"""What a long wait says while it goes on: to whoever follows the run, or on stderr before there is a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIET_SECONDS, AGAIN_SECONDS = 2.0, 30.0
"""A short wait says nothing; a long one repeats itself."""
Say = Callable[[str], None]


def on_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Notices:
    def __init__(self) -> None:
        self._say: Say = on_stderr

    def say(self, text: str) -> None:
        self._say(text)

    @contextmanager
    def shown_by(self, say: Say) -> Iterator[None]:
        """Pass notices on to this function meanwhile."""
        before, self._say = self._say, say
        try:
            yield
        finally:
            self._say = before


NOTICES = Notices()


class Waiting:
    """One wait of at most `patience` seconds: says what is missing when that changes, and every half minute."""

    def __init__(self, patience: float) -> None:
        self._patience, self._began = patience, time.monotonic()
        self._said, self._at = "", 0.0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def is_over(self) -> bool:
        return self.seconds > self._patience

    def for_(self, text: str) -> None:
        if self.seconds < QUIET_SECONDS or (text == self._said and self.seconds - self._at < AGAIN_SECONDS):
            return
        self._said, self._at = text, self.seconds
        NOTICES.say(f"waiting for {text}; {self.seconds:.0f} of {self._patience:g} s")
