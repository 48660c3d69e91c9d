from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from equipoise.api.demo.cells import accuracies, final, finished, uploads, weights
from equipoise.core.errors import EquipoiseError
from equipoise.run import cell_processes as room
from equipoise.run.places import Place
from tests.commands import CellHere

STUDY = """
preset: fafi
base: {data.limit: 200, data.test_limit: 60, partition.clients: 3, client.epochs: 1, checkpoints: 1, model: mlp}
cells:
  FAFI: {method: fafi}
  aligned: {method: etf-align, balance: constant}
"""


@pytest.fixture(autouse=True)
def cells_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "Child", CellHere)


def test_what_the_stories_read_of_a_study(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    seen: list[Sequence[Place]] = []
    found = finished(str(tmp_path / "study.yaml"), 2, tmp_path / "runs.db", seen.append)
    values = accuracies(found)
    assert list(values) == ["FAFI", "aligned"]
    assert {label: set(seeds) for label, seeds in values.items()} == {"FAFI": {0, 1}, "aligned": {0, 1}}
    assert final(found, "accuracy/merged") == values
    assert final(found, "no such number") == {}
    assert uploads(found)["FAFI"] > 0
    assert weights(found) == {"aligned": [5.0]}, "FAFI has no λ"
    assert seen, "progress is followed"


def test_a_study_with_a_failed_run_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        STUDY.replace("{method: fafi}", "{method: fedavg, client: {augment: none, lr: 1.0e+30, clip: null, epochs: 3}}")
    )
    with pytest.raises(EquipoiseError, match=r"1 of 2 runs of '.*' failed; the first, FAFI, seed 0: .*no client gave"):
        finished(str(tmp_path / "study.yaml"), 1, tmp_path / "runs.db", False)
