from __future__ import annotations

from pathlib import Path

import pytest

import equipoise as eq


def test_a_page_of_two_runs(in_rounds: eq.RunHandle, one_upload: eq.RunHandle, tmp_path: Path) -> None:
    path = eq.report([in_rounds, one_upload], tmp_path / "r.md")
    assert path == tmp_path / "r.md"
    text = path.read_text(encoding="utf-8")
    assert in_rounds.id in text
    assert one_upload.id in text


def test_the_page_of_one_run_in_chinese(in_rounds: eq.RunHandle, tmp_path: Path) -> None:
    assert 'lang="zh' in in_rounds.report(tmp_path / "r.html", language="zh").read_text(encoding="utf-8")


def test_an_ending_that_is_no_page(in_rounds: eq.RunHandle, tmp_path: Path) -> None:
    with pytest.raises(eq.ConfigError, match="HTML or Markdown"):
        eq.report(in_rounds, tmp_path / "r.docx")
