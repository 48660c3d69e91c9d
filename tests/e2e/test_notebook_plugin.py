"""A method that a real notebook registers in a cell runs in worker processes, and after the notebook is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import PATIENCE, Equipoise

CELLS = (
    "import equipoise as eq\nfrom equipoise.method.answers import Method",
    """
FACTOR = 0.5


@eq.METHODS.register("halved")
def halved(options):
    from equipoise.server.optimise import momentum

    return Method(merge=momentum(FACTOR, 0.0))
""",
    """
small = {"data.limit": 120, "model": "mlp", "partition.clients": 2, "client.epochs": 1}
run = eq.run("fedavg", {**small, "rounds": 2, "method": "halved", "engine": "processes", "engine.workers": 2})
run.status
""",
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_method_of_a_cell_runs_in_workers_and_is_resumed_by_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, equipoise: Equipoise
) -> None:
    import nbclient
    import nbformat

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EQUIPOISE_STORE", raising=False)
    cells = [nbformat.v4.new_code_cell(text.strip()) for text in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=PATIENCE, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "done" in notebook.cells[-1].outputs[-1].data["text/plain"]
    shown = equipoise("show", "latest", "--json").json
    assert shown["config"]["method"]["name"] == "halved"
    equipoise("resume", "latest", "--rounds", "+1")
    assert equipoise("show", "latest", "--json").json["config"]["rounds"] == 3
