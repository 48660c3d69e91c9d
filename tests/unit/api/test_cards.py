"""What notebooks show: everything is there, and nobody's text becomes markup."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import equipoise as eq
from equipoise.api.cards import run_card, table
from equipoise.api.diagnose import Diagnosis

EVIL = "<script>alert('x')</script>"


def test_a_run_shows_its_status_headline_and_findings(in_rounds: eq.RunHandle) -> None:
    card = in_rounds._repr_html_()
    assert in_rounds.id in card
    assert f"accuracy/merged {100 * (in_rounds.value or 0):.2f} %" in card
    assert all(finding.code in card for finding in in_rounds.findings)


def test_no_text_of_a_run_becomes_markup(in_rounds: eq.RunHandle) -> None:
    document: dict[str, Any] = in_rounds.summary()
    finding = {"code": EVIL, "saw": EVIL, "severity": "note"}
    card = run_card({**document, "run_id": EVIL, "error": EVIL, "metrics": {EVIL: 1.0}, "findings": [finding]})
    assert "<script" not in card
    assert card.count("&lt;script&gt;") == 5
    assert "nothing was scored yet" in card


def test_no_text_of_a_diagnosis_becomes_markup(in_rounds: eq.RunHandle) -> None:
    finding = replace(eq.diagnose(in_rounds).findings[0], code=EVIL, saw=EVIL, cause=EVIL, remedy=EVIL, override=EVIL)
    card = Diagnosis([finding], {EVIL: []}, [EVIL], name=EVIL, repairs=(EVIL,))._repr_html_()
    assert "<script" not in card
    assert card.count("&lt;script&gt;") == 9


def test_no_text_of_a_table_becomes_markup(in_rounds: eq.RunHandle) -> None:
    compared = eq.compare(in_rounds)
    line = replace(compared.comparison.lines[0], label=EVIL)
    card = replace(compared, comparison=replace(compared.comparison, lines=[line]))._repr_html_()
    assert "<script" not in card
    assert "&lt;script&gt;" in card
    assert "<script" not in table((EVIL,), [(EVIL,)])


def test_a_partition_shows_its_counts_and_no_class_name_becomes_markup() -> None:
    view = eq.partition("fedavg", {"data.limit": 200, "partition.clients": 3})
    card = replace(view, classes=(EVIL, *view.classes[1:]))._repr_html_()
    assert "<script" not in card
    assert all(f">{total}<" in card for total in view.counts.sum(axis=1))
    large = replace(view, counts=np.ones((41, 10), dtype=np.int64), n_clients=41)
    assert large._repr_html_().count("<tr>") < 20
    assert view.fingerprint in large._repr_html_()


def test_other_servers_show_as_a_table(one_upload: eq.RunHandle) -> None:
    fused = one_upload.fuse(predict="energy-gate")
    assert f"{100 * (fused.best.value or 0):.2f} %" in fused._repr_html_()
