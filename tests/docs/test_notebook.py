"""The tutorial that is a notebook runs from its first cell to its last, and shows what it speaks of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import PATIENCE
from tests.docs.documents import DOCS, read

NOTEBOOK = DOCS / "tutorials" / "in-a-notebook.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """The notebook after its kernel ran it in a folder of its own."""
    import nbclient
    import nbformat

    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("EQUIPOISE_STORE", raising=False)
        client = nbclient.NotebookClient(notebook, timeout=PATIENCE, resources={"metadata": {"path": str(folder)}})
        client.execute()
    return notebook, folder


def shown(notebook: Any, start: str) -> Any:
    """What the cell that begins like that displays at its end, by type."""
    (cell,) = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.startswith(start)]
    return cell.outputs[-1].data


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_cell_runs_and_shows_what_it_should(executed: tuple[Any, Path]) -> None:
    notebook, folder = executed
    assert "done" in shown(notebook, "run = eq.run")["text/html"]
    assert "accuracy/merged" in shown(notebook, "run.metrics(")["text/html"]
    assert "vega" in shown(notebook, "run.figure(")["text/html"]
    assert "fingerprint" in shown(notebook, "run.partition")["text/html"]
    assert "method=fedprox" in shown(notebook, "sweep = eq.sweep")["text/html"]
    assert "try:" in shown(notebook, "eq.diagnose")["text/html"]
    assert (folder / "report.html").stat().st_size > 100_000
    (bar, *_) = [cell.outputs[0] for cell in notebook.cells if cell.source.startswith("run = eq.run")]
    assert "round 5 of 5" in bar.data["text/html"], "the bar was drawn again in place"


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = [cell for cell in json.loads(read(NOTEBOOK))["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 8
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
