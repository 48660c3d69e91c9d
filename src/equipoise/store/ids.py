"""Names of runs and sweeps for a shell's completion: read at once, without SQLAlchemy, and never written.

A store that is not there, or cannot be read, has no names: a TAB reports no errors.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

MOST = 500
"""The newest; more would fill a terminal."""
SECONDS = 1
"""That a database server may take."""
QUERIES = {
    "runs": f"SELECT run_id FROM runs ORDER BY created DESC LIMIT {MOST}",
    "sweeps": f"SELECT DISTINCT sweep FROM members UNION SELECT name FROM sweeps LIMIT {MOST}",
}


def names(what: str, location: str | None) -> list[str]:
    """The ids of `runs`, newest first, or the names of `sweeps`, in the store at a path or URL, or the default one."""
    place = location or os.environ.get("EQUIPOISE_STORE") or str(Path("runs") / "equipoise.db")
    return _of_server(place, QUERIES[what]) if "://" in place else _of_file(Path(place), QUERIES[what])


def _of_file(path: Path, query: str) -> list[str]:
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=0.1)) as connection:
            return [str(name) for (name,) in connection.execute(query)]
    except sqlite3.Error:
        return []


def _of_server(url: str, query: str) -> list[str]:
    try:
        import psycopg
    except ImportError:
        return []
    plain = "postgresql://" + url.partition("://")[2]
    try:
        with psycopg.connect(plain, connect_timeout=SECONDS, autocommit=True) as connection:
            return [str(name) for (name,) in connection.execute(query.encode()).fetchall()]
    except psycopg.Error:
        return []
