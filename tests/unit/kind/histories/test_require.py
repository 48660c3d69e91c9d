"""Histories too short for sums over them."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.config.loader import load
from equipoise.core.errors import DataError
from equipoise.run.build import build
from tests.conftest import records

MINE = ("data=table", "data.file=mine.csv", "data.user=user", "data.item=item", "data.time=time")


def table(folder: Path, *lengths: int) -> Path:
    rows = [f"u{user},i{(user + 3 * t) % 11},{t}" for user, n in enumerate(lengths) for t in range(n)]
    (folder / "mine.csv").write_text("user,item,time\n" + "\n".join(rows) + "\n")
    return folder


def test_a_user_with_nothing_to_send_is_left_out_and_counted(tmp_path):
    config = load("rec/analytic", MINE).config
    federation = build(config, table(tmp_path, 3, 9, 9, 3))
    assert [note.message for note in federation.notes if "nothing to send" in note.message] == [
        "2 of 4 users have one item to learn from: they have nothing to send"
    ]
    assert [federation.roster.is_idle(user, 0) for user in range(4)] == [True, False, False, True]


def test_histories_without_any_transition_are_refused_before_the_run(tmp_path):
    with pytest.raises(DataError, match="no user has two items to learn from") as raised:
        build(load("rec/analytic", MINE).config, table(tmp_path, 3, 3, 3))
    assert raised.value.where == "data"
    assert raised.value.fix


def test_users_who_send_nothing_are_ranked_for_all_the_same():
    (record,) = records(load("rec/analytic", ["data.users=24", "data.length=24", "data.items=160"]).config)
    ranked = [row for row in record.rows if row.name == "rank/full"]
    assert len(ranked) == 24
