"""What the documentation shows can be done: shell blocks run, and the how-tos' Python files work.

Every document has a folder of its own, as its reader would. A YAML block whose first line ends in
`equipoise run x.yaml` or `equipoise sweep x.yaml` is saved there as x.yaml. A Python block whose first line is
`# python x.py` is run there first; one whose first line is `# save as x.py` is saved there. Blocks marked `text` are
not run.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipoise.config.loader import load
from equipoise.core.registry import BALANCES, METHODS, SPLITTERS, Registry
from equipoise.diagnose.rule import RULES
from equipoise.run.build import build, make_engine
from equipoise.run.loop import federate, first_snapshot
from equipoise.store import read
from equipoise.store.database import open_store
from tests.commands import PATIENCE, run_lines
from tests.docs.documents import DOCS, DOCUMENTS, README, README_ZH, ROOT, blocks, name_of
from tests.unit.diagnose.runs import found, run_of

SHELL = [path for path in DOCUMENTS if path != README_ZH and blocks(path, "sh")]
SLOW = {
    "diagnose.md",
    "report.md",
    "fuse.md",
    "use-a-trained-model.md",
    "run-a-sweep.md",
    "write-a-preset.md",
    "use-all-cores.md",
    "first-run.md",
    "own-data.md",
    "own-method.md",
    "resume.md",
    "use-a-backbone.md",
    "learn-in-one-upload.md",
    "recommend.md",
    "data.md",
    "search-settings.md",
    "install.md",
}
"""Pages whose commands have tests of their own: run with -m slow."""
PAGES = [pytest.param(path, marks=pytest.mark.slow if path.name in SLOW else ()) for path in SHELL]
SMALL = ["data.limit=200", "model=mlp", "rounds=1", "partition.clients=3"]


@pytest.mark.usefixtures("own_plugins")
@pytest.mark.parametrize("document", PAGES, ids=name_of)
def test_shell_blocks_run(document: Path, tmp_path: Path) -> None:
    prepare(document, tmp_path)
    for block in blocks(document, "sh"):
        assert block.text.startswith("equipoise "), "a block that is not ours to run is marked `text`"
        run_lines(tmp_path, block.text)
    if document == README:
        assert warnings_in(tmp_path) == [], "what a newcomer tries first ends in a warning"


def prepare(document: Path, folder: Path) -> None:
    """Do in that folder what a page asks for before its commands: files to save, Python to run."""
    for block in blocks(document, "yaml"):
        file = re.search(r"equipoise (?:run|sweep|join .*) (\S+\.yaml)$", block.text.splitlines()[0])
        if file:
            (folder / file[1]).write_text(block.text, encoding="utf-8")
    for block in blocks(document, "python"):
        first = block.text.splitlines()[0]
        if first.startswith("# save as "):
            (folder / first.removeprefix("# save as ")).write_text(block.text, encoding="utf-8")
        if first.startswith("# python "):
            subprocess.run([sys.executable, "-c", block.text], cwd=folder, timeout=PATIENCE, check=True)


def test_the_python_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = blocks(README, "python")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EQUIPOISE_STORE", raising=False)
    exec(block.text, {})
    printed = capsys.readouterr().out
    assert "accuracy/merged" in printed
    assert "energy-gate" in printed
    assert (tmp_path / "report.html").is_file()


def warnings_in(folder: Path) -> list[str]:
    """What the diagnosis of the runs of a folder found, above a note."""
    with open_store(folder / "runs" / "equipoise.db") as store:
        found = [finding for run in read.runs(store) for finding in read.findings(store, run.run_id)]
    return [finding["code"] for finding in found if finding["severity"] != "note"]


@pytest.fixture
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [path.stem for path in tmp_path.glob("*.py")]:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("document", "registry", "chosen"),
    [
        ("add-a-method", METHODS, ["method=fedproxm"]),
        ("add-a-policy", BALANCES, ["balance=early", "method=etf-align"]),
        ("add-a-splitter", SPLITTERS, ["partition=whole-classes"]),
    ],
)
def test_the_file_of_a_how_to_trains(
    document: str, registry: Registry[object], chosen: list[str], importable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example, *_ = blocks(DOCS / "howto" / f"{document}.md", "python")
    assert max(len(line) for line in example.text.splitlines()) <= 120
    registry.names()
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    name = chosen[0].split("=")[1]
    module = f"example_{name.replace('-', '_')}"
    (importable / f"{module}.py").write_text(example.text, encoding="utf-8")
    importlib.import_module(module)
    federation = build(load("fedavg", [*SMALL, *chosen]).config)
    (record,) = federate(federation, make_engine(federation.site), first_snapshot(federation), 0, lambda *_: None)
    assert {row.name for row in record.rows} >= {"accuracy/merged", "loss/base"}
    assert federation.partition.check.disjoint


def test_the_rule_of_its_how_to_finds_what_it_says(importable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = blocks(DOCS / "howto" / "add-a-rule.md", "python")
    RULES.names()
    monkeypatch.setattr(RULES, "_entries", dict(RULES._entries))
    (importable / "example_still_client.py").write_text(example.text, encoding="utf-8")
    importlib.import_module("example_still_client")
    still = run_of({"update/norm": {0: [0.0, 0.0], 1: [1.0, 1.0]}, "steps": {0: [5.0, 5.0], 1: [5.0, 5.0]}})
    finding = found(still, "still-client")
    assert finding is not None
    assert finding.saw == "client 0 took steps and did not move (checkpoints 1 to 2)"
    assert found(run_of({"update/norm": [1.0, 1.0], "steps": [5.0, 5.0]}), "still-client") is None


IN_THE_ROOM = """
import sys
import equipoise.balance
equipoise.balance.__path__.append(sys.argv[1])
"""


def in_the_room(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Python in which the files of `folder` lie in src/equipoise/balance/."""
    command = [sys.executable, "-c", IN_THE_ROOM + code, str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.slow
def test_a_policy_is_one_file_and_one_test(tmp_path: Path) -> None:
    """Nothing else: the command lists it, and its own test and the contract of every policy pass."""
    room = tmp_path / "balance"
    room.mkdir()
    policy, test = blocks(DOCS / "howto" / "add-a-policy.md", "python")
    (room / "early.py").write_text(policy.text, encoding="utf-8")
    own = tmp_path / "test_early.py"
    own.write_text(test.text, encoding="utf-8")
    contract = ["tests/contract/test_balances.py", "tests/unit/balance/test_policy.py"]
    asked = [str(own), *contract, "-k", "early", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    listed = "from equipoise.cli.balances import described; print(described())"
    done = in_the_room(room, f"{listed}; import pytest; sys.exit(pytest.main({asked!r}))")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "λ₀ while p < until, then 0" in done.stdout
