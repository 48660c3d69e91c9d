"""Other people's code through the command: what used to fail, each by its symptom; and a package from its first line
to its report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from equipoise.store import read
from equipoise.store.database import open_store
from tests.commands import run_process
from tests.e2e.conftest import TINY, Equipoise, asked, within_a_round

pytestmark = pytest.mark.usefixtures("own_plugins")

MINE = '''"""Things of one file."""

from collections.abc import Iterator

import numpy as np

from equipoise.core.registry import DATASETS, METHODS
from equipoise.core.values import Dataset, Images
from equipoise.diagnose.finding import Sign
from equipoise.diagnose.remedy import Remedy
from equipoise.diagnose.rule import Limit, Rule
from equipoise.method.answers import Method


@METHODS.register("mine")
def mine(options):
    """FedAvg under another name."""
    return Method()


@DATASETS.register("grey")
def grey(options, folder):
    """Grey images of two classes, with the constants of their one channel."""
    rng = np.random.default_rng(0)
    labels = np.arange(80) % 2
    pixels = (rng.integers(0, 100, (80, 1, 8, 8)) + 100 * labels[:, None, None, None]).astype(np.uint8)
    half = Images(pixels[:60], labels[:60]), Images(pixels[60:], labels[60:])
    return Dataset("grey", *half, ("dark", "bright"), (0.4,), (0.3,))


@Rule(
    "mine-found",
    severity="note",
    when=("end",),
    reads=("accuracy/merged",),
    limits=(Limit("most", -1.0, "accuracy above which it is named"),),
    says="accuracy is {value:.0%}",
    cause="it has one",
    remedies=(Remedy("nothing"),),
)
def found(run, limit) -> Iterator[Sign]:
    value = float(run.server("accuracy/merged").values[-1])
    if value > limit["most"]:
        yield Sign(None, [], {"value": value})
'''
RUN = (*TINY, "plugins=mine.py", "rounds=2")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.usefixtures("mine")
def test_own_method_with_processes_does_not_die_for_want_of_memory(equipoise: Equipoise) -> None:
    here = equipoise("run", "fedavg", *RUN, "method=mine", "--json").json
    there = equipoise("run", "fedavg", *RUN, "method=mine", "engine=processes", "engine.workers=1", "--json").json
    assert there["metrics"] == here["metrics"]
    (plugin,) = there["plugins"]
    assert (plugin["name"], len(plugin["sha256"])) == ("mine", 64)


def test_a_worker_that_cannot_start_says_why(equipoise: Equipoise, mine: Path) -> None:
    mine.write_text(MINE + "\nimport os, sys\nif sys.argv[0].endswith('worker.py'):\n    import not_there\n")
    failed = equipoise("run", "fedavg", *RUN, "method=mine", "engine=processes", "engine.workers=1", code=1)
    assert "a worker cannot start" in failed.err
    assert "No module named 'not_there'" in failed.err
    assert "memory limit" not in failed.err


@pytest.mark.usefixtures("mine")
def test_sweep_and_command_line_know_own_things(equipoise: Equipoise) -> None:
    swept = equipoise("sweep", "fedavg", *RUN, "method=mine,fedprox", "--seeds", "1", "--json").json
    assert [row["label"] for row in swept["rows"]] == ["method=mine", "method=fedprox"]
    assert swept["failed"] == []
    printed = equipoise("show", "latest").out
    assert "plugin mine (" in printed or "fedprox" in printed


@pytest.mark.usefixtures("mine")
def test_own_data_set_of_one_channel_trains_and_is_listed(equipoise: Equipoise) -> None:
    small = ("model=mlp", "client.epochs=1", "rounds=1", "partition=iid", "partition.clients=2", "plugins=mine.py")
    ran = equipoise("run", "fedavg", "data=grey", *small, "client.augment=two-view", "--json").json
    assert ran["status"] == "done"
    (line,) = [line for line in equipoise("data", "list", "--json").json if line["name"] == "grey"]
    assert (line["kind"], line["classes"], line["package"]) == ("images", None, "mine")
    assert "grey" in equipoise("data", "list").out
    assert equipoise("data", "check", "grey", "--json").json["splits"]["train"]["published"] is None


@pytest.mark.usefixtures("mine")
def test_own_rule_has_limits_of_its_own(equipoise: Equipoise) -> None:
    equipoise("run", "fedavg", *RUN)
    (finding,) = [
        one for one in equipoise("diagnose", "latest", "--json").json["findings"] if one["code"] == "mine-found"
    ]
    assert finding["saw"].startswith("accuracy is ")
    silent = equipoise("diagnose", "latest", "--set", "mine-found.most=1", "--json").json
    assert "mine-found" in silent["passed"]
    assert "accuracy is " in equipoise("diagnose", "latest", "--lang", "zh").out
    ran = equipoise("run", "fedavg", *RUN, "limits.mine-found.most=1", "--json").json
    assert "mine-found" not in [one["code"] for one in ran["findings"]]
    assert "mine-found" in equipoise("rules", "mine-found").out


def test_resume_refuses_code_that_has_changed(equipoise: Equipoise, mine: Path, tmp_path: Path) -> None:
    with within_a_round(tmp_path, "run", "fedavg", *RUN, "method=mine", at_round=1) as process:
        process.kill()
    mine.write_text(MINE + "\n# changed\n")
    refused = equipoise("resume", "latest", code=2)
    assert "plugin 'mine' is not what it was" in refused.err
    mine.write_text(MINE)
    assert equipoise("resume", "latest", "--json").json["status"] == "done"


def test_a_run_whose_plugin_is_gone_can_still_be_shown_and_diagnosed(equipoise: Equipoise, mine: Path) -> None:
    equipoise("run", "fedavg", *RUN, "method=mine")
    mine.unlink()
    assert equipoise("show", "latest", "--json").json["status"] == "done"
    diagnosed = equipoise("diagnose", "latest")
    assert "there is no plugin file" in diagnosed.err
    equipoise("report", "latest", "-o", "r.html")
    equipoise("sweep", "one-shot/fedavg", *TINY, "checkpoints=1", "--seeds", "1")


FAILING = """
from equipoise.core.registry import AGGREGATES, TERMS


@AGGREGATES.register("falls")
def falls(options):
    return lambda state, updates: state.model["no such weight"]


@TERMS.register("falls")
def term(view):
    return view.no_such_thing
"""


@pytest.mark.parametrize(
    ("setting", "said", "line"),
    [
        ("server.aggregate=falls", "KeyError: 'no such weight'", 7),
        ("client.terms.falls=0.1", "AttributeError", 12),
    ],
)
def test_code_that_raises_in_a_run_is_named_with_file_and_line(
    equipoise: Equipoise, mine: Path, setting: str, said: str, line: int
) -> None:
    mine.write_text(FAILING)
    failed = equipoise("run", "fedavg", *RUN, setting, code=1)
    assert said in failed.err
    assert f"plugin 'mine' ({mine}, line {line})" in failed.err
    shown = equipoise("show", "latest", "--json").json
    assert shown["status"] == "failed"
    assert f"line {line}" in shown["error"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_like_this", "ModuleNotFoundError: No module named 'nothing_like_this'"),
        (
            "from equipoise.core.registry import METHODS\nMETHODS.register('fedavg')(lambda o: 0)",
            "registered twice",
        ),
        ("from equipoise.core.registry import METHODS\nMETHODS.register('x')(lambda: 0)", "has the wrong signature"),
    ],
)
def test_a_bad_plugin_is_a_wrong_request_and_nothing_is_written(
    refused: Equipoise, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "bad.py").write_text(text)
    outcome = refused("run", "fedavg", "plugins=bad.py")
    assert said in outcome.err
    assert "bad.py, line" in outcome.err
    assert not (tmp_path / "runs").exists()


def test_new_plugin_refuses_what_is_there(refused: Equipoise, tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    assert "there is something at acme already" in refused("new", "plugin", "acme").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Acme"], "'Acme' cannot be the name of a package"),
        (["json"], "there is a module 'json' already"),
        (["acme", "--with", "methd"], "did you mean 'method'?"),
    ],
)
def test_new_plugin_refuses_names_that_cannot_be(refused: Equipoise, tmp_path: Path, arguments, said: str) -> None:
    assert said in refused("new", "plugin", *arguments).err
    assert list(tmp_path.iterdir()) == []


BRINGS = "method,model,data,policy,merge,splitter,rule"
INSTALL = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package that `equipoise new plugin` wrote, built and installed by pip."""
    folder = tmp_path_factory.mktemp("made")
    asked(folder, run_process)("new", "plugin", "acme", "--with", BRINGS)
    built = subprocess.run(
        [sys.executable, *INSTALL, "--target", "site", "./acme"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder / "site"


@pytest.fixture
def installed(site: Path, tmp_path: Path) -> Equipoise:
    """The command where the package is installed: processes alone, which know nothing but that."""
    path = ":".join([str(site), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    return partial(asked(tmp_path, run_process), PYTHONPATH=path)


@pytest.mark.slow
def test_a_package_outside_the_tree_does_everything_that_ours_does(
    installed: Equipoise, site: Path, tmp_path: Path
) -> None:
    ran = installed("run", "acme/small", "--json").json
    config = ran["config"]
    names = [config[block]["name"] for block in ("method", "model", "data", "balance", "partition")]
    assert [*names, config["server"]["aggregate"]["name"]] == ["acme"] * 6
    (plugin,) = ran["plugins"]
    assert (plugin["package"], plugin["version"], plugin["name"]) == ("acme", "0.1.0", "acme")
    assert "acme-modest" in [finding["code"] for finding in ran["findings"]]

    swept = installed("sweep", "acme/small", "balance.lam=0.5,2", "--seeds", "2", "-j", "2", "--json").json
    assert (len(swept["runs"]), swept["failed"]) == (4, [])

    there = installed("run", "acme/small", "engine=processes", "engine.workers=2", "--json").json
    assert there["metrics"] == ran["metrics"]

    variables = {"PYTHONPATH": installed.keywords["PYTHONPATH"]}
    with within_a_round(tmp_path, "run", "acme/small", at_round=1, **variables) as process:
        process.kill()
    resumed = installed("resume", "latest", "--json").json
    assert (resumed["status"], resumed["metrics"]) == ("done", ran["metrics"])

    installed("report", "latest", "-o", "report.html")
    assert "plugin acme 0.1.0 (" in (tmp_path / "report.html").read_text()
    assert "acme-modest" in installed("diagnose", "latest").out
    for command in (("methods",), ("balances",), ("data", "list"), ("presets",), ("rules",)):
        listed = json.loads(installed(*command, "--json").out)
        assert any(str(one.get("name") or one["code"]).startswith("acme") for one in listed), command

    with open_store(tmp_path / "runs" / "equipoise.db") as store:
        assert {run.method for run in read.runs(store)} == {"acme"}
    (site / "acme" / "method.py").write_text((site / "acme" / "method.py").read_text() + "\n# changed\n")
    again = installed("show", "latest", "--config").out
    (tmp_path / "again.yaml").write_text(again)
    assert "plugin 'acme 0.1.0' is not what it was" in installed("run", "again.yaml", code=2).err


@pytest.mark.slow
def test_the_tests_that_come_with_a_package_pass(tmp_path: Path) -> None:
    asked(tmp_path, run_process)("new", "plugin", "acme", "--with", "all")
    path = ":".join(filter(None, [str(tmp_path / "acme" / "src"), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path / "acme",
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
