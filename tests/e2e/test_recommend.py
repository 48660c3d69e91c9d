"""A recommender as its users run it: what is said of their data is printed, and kept with the run."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.conftest import Equipoise


def kept(run: dict, kind: str) -> list[str]:
    return [event["message"] for event in run["events"] if event["kind"] == kind]


def test_what_was_found_of_the_features_is_printed_and_kept(equipoise: Equipoise) -> None:
    done = equipoise("run", "rec/feddmmr", "rounds=1", "data.users=60", "--json")
    visual, text = kept(done.json, "feature-check")
    assert visual.startswith("visual (as-given): 100.0% of 400 items × 32")
    assert text.startswith("text (as-given): 100.0% of 400 items × 24")
    for check in (visual, text):
        assert str(check) in done.err
        assert f"! {check}" not in done.err, "a healthy check alarms nobody"
        assert "same-user lift" in check


def test_a_table_out_of_order_and_too_small_for_a_hundred_candidates(equipoise: Equipoise, tmp_path: Path) -> None:
    draw = random.Random(0)
    rows = [(user, item, time) for user in range(30) for time, item in enumerate(draw.sample(range(40), 10))]
    draw.shuffle(rows)
    lines = "\n".join(f"u{user},i{item},{time}" for user, item, time in rows)
    (tmp_path / "mine.csv").write_text(f"user,item,time\n{lines}\n")
    done = equipoise(
        "run", "rec/sasrec", "data=table", "data.path=mine.csv", "rounds=2", "server.fraction=0.3", "--json"
    )
    sorted_rows, left_out = kept(done.json, "data-note")
    assert sorted_rows == "The reader sorted the rows of 30 users by time."
    assert "uni100 is left out" in left_out
    assert "has met all but 30 of 40 items" in left_out
    assert sorted_rows in done.err
    assert left_out in done.err
    assert not [name for name in done.json["metrics"] if "uni100" in name]
    assert 0 <= done.json["metrics"]["hr@10/full"] <= 1
    assert "hr@10/full" in equipoise("show", "latest").out


def test_a_run_says_whether_it_beats_the_table_that_every_claim_must_beat(equipoise: Equipoise) -> None:
    done = equipoise("run", "rec/sasrec", "rounds=1", "data.users=60", "--json").json
    mean, low, high = (100 * done["metrics"][f"hr@10/full/over_markov{end}"] for end in ("", "/low", "/high"))
    assert low <= mean <= high
    where = "above" if low > 0 else "below" if high < 0 else "level with"
    told = f"hr@10/full: {where} Markov, {mean:+.1f} points, 95 % over users {low:+.1f} … {high:+.1f}"
    assert told in equipoise("show", "latest").out


def test_recommenders_are_compared_user_by_user_under_either_protocol(equipoise: Equipoise) -> None:
    small = ("rounds=2", "data.users=60", "server.fraction=0.2")
    for preset in ("rec/sasrec", "rec/feddmmr"):
        equipoise("run", preset, *small)
    found = {}
    for metric in ("hr@10/full", "hr@10/uni100"):
        found[metric] = equipoise("compare", "rec-sasrec", "rec-feddmmr", "--metric", metric, "--json").json["rows"]
        first, second = found[metric]
        assert first["metric"] == second["metric"] == metric
        assert second["difference"]["over"] == "users", "one seed, sixty users"
        assert second["difference"]["mean"] == pytest.approx(second["final"]["mean"] - first["final"]["mean"])
    assert found["hr@10/full"] != found["hr@10/uni100"]
    out = equipoise("compare", "rec-sasrec", "rec-feddmmr", "--metric", "hr@10/uni100").out
    assert "hr@10/uni100 in per cent" in out
    assert "differences are paired over users" in out
    wrong = equipoise("compare", "rec-sasrec", "rec-feddmmr", "--metric", "hr@10/uni10", code=2).err
    assert "did you mean 'hr@10/uni100'" in wrong


def test_a_stream_is_shown_slice_by_slice_with_what_a_change_costs(equipoise: Equipoise) -> None:
    planted = ("data.split=slices", "data.slices=10", "data.users=40", "data.length=300", "data.items=600")
    done = equipoise("run", "rec/feddmmr", *planted, "data.follow=0", "rounds=9", "--json").json
    slices, change = done["stream"]["slices"], done["stream"]["change"]
    assert len(slices) == 9
    for one in slices:
        assert 10 / 600 <= one["chance"] < 10 / 300  # of those not met before, ten
        assert one["itempop"] > 0
        assert one["markov"] > 0
    assert sum(one["alarms"] for one in slices) >= change["users"] > 0
    out = equipoise("show", "latest").out
    assert "slice  hr@10/full  drifted  steady  markov  itempop  chance  alarms" in out
    assert f"at their alarms {change['users']} users go from hr@10/full {100 * change['level']:.1f} %" in out
    assert "last slice" in out
    assert "95 %" not in out, "columns that no figure has are left out"


Spoilt = Callable[[Path], list[str] | None]
"""Spoils the files in a folder; what is set beside."""


def lines(folder: Path, change: Callable[[list[str]], list[str]]) -> None:
    header, *rows = (folder / "mine.csv").read_text().splitlines()
    (folder / "mine.csv").write_text("\n".join([header, *change(rows)]))


def rows(folder: Path, change: Callable[[np.ndarray], np.ndarray]) -> None:
    table = np.load(folder / "pictures.npz")
    np.savez(folder / "pictures.npz", item_id=table["item_id"], rows=change(table["rows"]))


BAD: dict[str, tuple[Spoilt, str, str]] = {
    "no file": (lambda folder: (folder / "pictures.npz").unlink(), "pictures.npz", "next:"),
    "rows missing": (
        lambda folder: rows(folder, lambda x: x[:-1]),
        "names 80 rows, and there are 79",
        "same items, in the same order",
    ),
    "not finite": (
        lambda folder: rows(folder, lambda x: np.where(x > 2.5, np.nan, x)),
        "hold NaN or infinity",
        "leave",
    ),
    "shuffled": (lambda folder: rows(folder, np.random.default_rng(3).permutation), "no more alike", "check the ids"),
    "twice": (lambda folder: lines(folder, lambda x: [*x, x[-1]]), "repeat another's user", "data.duplicates=drop"),
    "too short": (lambda folder: lines(folder, lambda x: [*x, "u99,i1,1"]), "fewer than 3", "data.short=drop"),
    "no order": (
        lambda folder: lines(folder, lambda x: [line.rsplit(",", 1)[0] + ",7" for line in x]),
        "no usable order",
        "name a column of times or ranks with data.time",
    ),
    "no such group": (lambda folder: ["server.personal=[expert]"], "no group 'expert'", "did you mean 'experts'"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_with_a_users_data_is_said(kind: str, refused: Equipoise, tmp_path: Path) -> None:
    """Forty users with one of four tastes, and pictures of eighty items that show it; then one thing is spoilt."""
    draw = np.random.default_rng(0)
    taste = np.repeat(np.eye(4), 20, axis=0)
    np.savez(
        tmp_path / "pictures.npz",
        item_id=[f"i{item}" for item in range(80)],
        rows=(3 * np.repeat(taste, 3, axis=1) + draw.standard_normal((80, 12))).astype(np.float32),
    )
    histories = [20 * (user % 4) + draw.permutation(20)[:12] for user in range(40)]
    met = [f"u{user},i{item},{time}" for user, items in enumerate(histories) for time, item in enumerate(items)]
    (tmp_path / "mine.csv").write_text("\n".join(["user,item,time", *met]))
    mine = ["data=table", "data.file=mine.csv", "data.visual=pictures.npz", "data.text=null", "rounds=1"]
    spoil, what, fix = BAD[kind]
    given = ("model.experts=visual", "balance=none", *mine, *(spoil(tmp_path) or []))
    wrong = refused("run", "rec/feddmmr", *given, EQUIPOISE_DATA=str(tmp_path))
    assert what in wrong.err
    assert fix in wrong.err
    assert "next:" in wrong.err or "did you mean" in wrong.err


def test_a_recommender_in_closed_form_says_what_it_chose_and_what_was_sent(equipoise: Equipoise) -> None:
    small = ("data.users=60",)
    done = equipoise("run", "rec/analytic", *small)
    assert "blend/ridge" in done.out
    assert re.search(r"bytes down, whole run +0 ", done.out)
    parts = [equipoise("run", "rec/analytic", *small, f"method.score={score}", "--json").json for score in PARTS]
    table = equipoise("compare", *(run["run_id"] for run in parts)).out
    assert "differences are paired over users" in table
    equipoise("report", "latest", "-o", "closed.html")


PARTS = ("markov", "ridge", "blend")


def test_sums_are_added_to_a_finished_recommender(equipoise: Equipoise) -> None:
    run = equipoise("run", "rec/sasrec", "rounds=1", "data.users=60", "--json").json
    fused = equipoise("fuse", run["run_id"], "--sums", "blend", "--sums", "markov", "--json").json
    assert [server["sums"] for server in fused["servers"]] == ["blend", "markov"]
    assert all(0 <= server["weight"] <= 1 for server in fused["servers"])
    assert "weight: of the sums beside the model" in equipoise("fuse", run["run_id"], "--sums", "blend").out
    both = equipoise("fuse", run["run_id"], "--sums", "blend", "--predict", "energy-gate", code=2)
    assert "give sums alone, or the others" in both.err
    unknown = equipoise("fuse", run["run_id"], "--sums", "markow", code=2)
    assert "'markov', 'ridge' or 'blend'" in unknown.err
