"""How far a run was sent to trackers, and the numbers that are sent: those of one checkpoint.

The last checkpoint that a tracker acknowledged is kept with the run's id there, so that a resumed run, or a later
export, goes on where the tracker has nothing yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite

from equipoise.store import tables
from equipoise.store.metrics import OWNER, SERVER_KEY
from equipoise.store.transact import Store, reading, writing

NOTHING = -1
"""The last checkpoint sent, if none was."""


@dataclass(frozen=True)
class SentTo:
    """A run at a tracker: its id there, and the last checkpoint that the tracker acknowledged."""

    tracker: str
    place: str
    remote: str
    sent: int = NOTHING


@dataclass(frozen=True)
class StepNumbers:
    """The numbers of one checkpoint: (client or None, name, value), and (name, mean over the clients)."""

    single: Sequence[tuple[int | None, str, float]]
    means: Sequence[tuple[str, float]]


def sent_to(store: Store, run_id: str, tracker: str, place: str) -> SentTo | None:
    """What is known of the run at this tracker; None if it was never sent there."""
    table = tables.trackers.c
    query = select(table.tracker, table.place, table.remote, table.sent)
    with reading(store) as connection:
        mine = query.where(table.run_id == run_id, table.tracker == tracker, table.place == place)
        row = connection.execute(mine).one_or_none()
    return None if row is None else SentTo(*row)


def set_sent(store: Store, run_id: str, sent: SentTo) -> None:
    key = {"run_id": run_id, "tracker": sent.tracker, "place": sent.place}
    values = {"remote": sent.remote, "sent": sent.sent}
    with writing(store) as connection:
        insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        added = insert(tables.trackers).values(**key, **values)
        connection.execute(added.on_conflict_do_update(index_elements=list(key), set_=values))


def step_numbers(store: Store, run_id: str, step: int, names: Sequence[str], own: int | None) -> StepNumbers:
    """The numbers of these names: of the server, of the clients below `own` (None: all), and if there are more clients,
    the means over all of them. The database forms the means."""
    table = tables.metrics.c
    mine = (table.run_id == run_id, table.name.in_(list(names)), table.step == step)
    single = select(table.client, table.name, table.value).where(*mine)
    means = select(table.name, func.avg(table.value)).where(*mine, OWNER > SERVER_KEY).group_by(table.name)
    with reading(store) as connection:
        if own is None:
            return StepNumbers([(who, name, value) for who, name, value in connection.execute(single)], [])
        few = connection.execute(single.where(own > OWNER)).all()
        many = connection.execute(means.having(func.max(OWNER) >= own)).all()
    kept = [(who, name, value) for who, name, value in few]
    return StepNumbers(kept, [(name, value) for name, value in many if value is not None])
