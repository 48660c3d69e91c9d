"""Formats dates and durations for people."""

from __future__ import annotations

from datetime import datetime

from equipoise.store.records import Run


def date_text(moment: str) -> str:
    """A stored time, to the minute.

    >>> date_text("2026-11-18T01:38:22.961532+00:00")
    '2026-11-18 01:38 UTC'
    """
    return f"{moment[:10]} {moment[11:16]} UTC"


def duration_text(seconds: float) -> str:
    """A duration with its units.

    >>> duration_text(7.06), duration_text(250), duration_text(7500)
    ('7.1 s', '4 min 10 s', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def seconds_of(run: Run) -> float | None:
    """Seconds from start to end; None for an unfinished run."""
    if run.finished is None:
        return None
    return (datetime.fromisoformat(run.finished) - datetime.fromisoformat(run.created)).total_seconds()
