"""Translates errors of databases and disks into messages: what happened, where, what to do next.

SQLite identifies a problem by a result code, PostgreSQL by an SQLSTATE, the operating system by an errno.
"""

from __future__ import annotations

import errno
import sqlite3
from typing import NamedTuple

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from equipoise.core.errors import StoreError, WrongStore


class StoreProblem(NamedTuple):
    """What to say about one kind of error, and the class to raise."""

    what: str
    fix: str
    kind: type[StoreError] = StoreError


LOCKED = StoreProblem("the store is locked: another process has been writing to it for too long", "wait and try again")
READ_ONLY = StoreProblem(
    "the store cannot be written to: it is read-only", "check its permissions, or use another store"
)
FULL = StoreProblem("the store cannot be written to: the disk is full", "free some space; `equipoise resume` goes on")
NOT_OURS = StoreProblem("the file is not a database", "give the path of a store, or of a new file", WrongStore)
DAMAGED = StoreProblem("the database file is damaged", "restore it from a copy, or start a new store")
CANNOT_OPEN = StoreProblem("the database cannot be opened", "check that the folder exists and may be written to")
DISK = StoreProblem("the disk failed while the database was read or written", "check the disk, then try again")
FILE = StoreProblem("a file of the store cannot be read or written", "check its path and the disk")
UNREACHABLE = StoreProblem("the database server cannot be reached", "check the URL and that the server is running")
REFUSED = StoreProblem("the database refuses this user", "check the user's rights on the tables and the schema")
TWICE = StoreProblem(
    "a record is there already, or names one that is not", "rewind the run before recording a step again"
)
UNKNOWN = StoreProblem("the database refused the request", "the words in brackets are the database's own")

SQLITE = {
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_NOTADB: NOT_OURS,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_CANTOPEN: CANNOT_OPEN,
    sqlite3.SQLITE_IOERR: DISK,
}
SQLSTATE = {
    "": UNREACHABLE,  # no answer, so no state
    "57P01": UNREACHABLE,
    "53100": FULL,
    "25006": READ_ONLY,
    "55P03": LOCKED,
    "40P01": LOCKED,
    "42501": REFUSED,
}
ERRNO = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: FULL,
    errno.EROFS: READ_ONLY,
    errno.EACCES: READ_ONLY,
    errno.EPERM: READ_ONLY,
}


def from_database(error: Exception, where: str) -> StoreError:
    """The StoreError for an error of a database driver."""
    original = error.orig if isinstance(error, DBAPIError) else error
    what, fix, kind = problem_of(error)
    return kind(f"{what} ({str(original).strip()})", where=where, fix=fix)


def problem_of(error: Exception) -> StoreProblem:
    if not isinstance(error, DBAPIError) or isinstance(error, DataError):
        return UNKNOWN
    if isinstance(error, IntegrityError):
        return TWICE
    if isinstance(error.orig, sqlite3.Error):
        return SQLITE.get(error.orig.sqlite_errorcode & 0xFF, UNKNOWN)
    return SQLSTATE.get(getattr(error.orig, "sqlstate", None) or "", UNKNOWN)


def from_disk(error: OSError, where: str) -> StoreError:
    """The StoreError for an error of the operating system."""
    what, fix, kind = ERRNO.get(error.errno or 0, FILE)
    return kind(f"{what} ({error.strerror})", where=where, fix=fix)
