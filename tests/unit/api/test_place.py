from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.api.place import existing, located
from equipoise.core.errors import NoSuchRun


def test_a_file_is_known_by_its_full_path_and_a_url_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EQUIPOISE_STORE", raising=False)
    assert located(None) == str(tmp_path / "runs" / "equipoise.db")
    assert located("a.db") == str(tmp_path / "a.db")
    assert located("postgresql://me@host/db") == "postgresql://me@host/db"
    monkeypatch.setenv("EQUIPOISE_STORE", "other.db")
    assert located(None) == str(tmp_path / "other.db")


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NoSuchRun, match="there is no store"):
        existing(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []
