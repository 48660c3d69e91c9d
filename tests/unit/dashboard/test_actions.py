"""What can be done from a page, and what is refused before any code is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.config.loader import load
from equipoise.core.errors import ConfigError, NoSuchRun
from equipoise.dashboard import actions as module
from equipoise.dashboard.actions import Job, checked, presets
from equipoise.dashboard.view import Dashboard
from equipoise.store import write
from equipoise.store.locks import hold
from equipoise.store.watching import requested
from tests.conftest import TINY

from .conftest import written_run
from .visits import ACTING, Visits

RUN = "fedavg-000001"
SMALL = [*TINY, "model=mlp", "model.hidden=16", "rounds=2"]


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of code that leaves a mark when it is loaded, by path and by module name."""
    mark = tmp_path / "mark"
    body = f"open({str(mark)!r}, 'w').close()\ndef make(*a, **k): raise SystemExit(3)\n"
    (tmp_path / "trap.py").write_text(body)
    (tmp_path / "trap.yaml").write_text(f"preset: fedavg\nplugins: [{tmp_path / 'trap.py'}]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return mark


HOSTILE = [
    "plugins=trap", "plugins=trap.py", "plugins=[trap.py]", "plugins={name: trap}",
    "plugins=[{name: trap, path: trap.py}]",
    "plugins.0=trap.py", "plugins.name=trap", "model.factory=trap.py:make", "model.factory=trap:make",
    "model={name: backbone, factory: trap.py:make}", "model={factory: trap.py:make}", "model.factory.x=trap.py:make",
    "preset=trap.yaml", "preset={a: trap.yaml}", "--plugins=trap.py", "-h", "--store=elsewhere.db", "--help=1",
    "plugins\n=trap.py", "rounds=1\nplugins=trap.py", "rounds=1\r--store=x", "rounds=1\0", "=trap.py", "trap.py", "",
    " plugins=trap.py", "plugins =trap.py", "\tplugins=trap.py", '"plugins"=trap.py', "'plugins'=trap.py",
]  # fmt: skip


@pytest.mark.parametrize("setting", HOSTILE)
def test_what_names_code_or_is_no_setting_is_refused_before_anything_is_loaded(
    own: Visits, board: Dashboard, trap: Path, setting: str
) -> None:
    for address in ("/start/check", "/start"):
        for settings in ([setting], ["rounds=1", setting]):
            answer = own.owner.post(address, headers=ACTING, json={"preset": "fedavg", "settings": settings})
            assert answer.status_code == 400, answer.text
    assert not trap.exists()
    assert board.actions.jobs == []


def test_the_trap_is_one(own: Visits, trap: Path, own_plugins: None) -> None:
    load("fedavg", ["plugins=trap.py"])
    assert trap.exists()


@pytest.mark.parametrize(
    "preset",
    ["trap.yaml", "./trap.yaml", "../trap", "/etc/passwd", "{place}/trap.yaml", "--help", "-", "", "studies/demo",
     "fedavg\n--store=x", "fedavg.yaml", " fedavg", "FEDAVG"],
)  # fmt: skip
def test_a_preset_is_one_of_the_list_and_never_a_path(own: Visits, board: Dashboard, trap: Path, preset: str) -> None:
    order = {"preset": preset.format(place=trap.parent), "settings": []}
    for address in ("/start/check", "/start"):
        assert own.owner.post(address, headers=ACTING, json=order).status_code == 400
    assert not trap.exists()
    assert board.actions.jobs == []


def test_settings_are_few_and_each_is_one_value(own: Visits, board: Dashboard) -> None:
    orders = [
        {"preset": "fedavg", "settings": [f"x{i}=1" for i in range(61)]},
        {"preset": "fedavg", "settings": ["model=&a {b: *a}"]},
        {"preset": "fedavg", "settings": ["rounds=2020-13-45"]},
        {"preset": "fedavg", "settings": ["model={a: {b: [" * 50]},
    ]
    for order in orders:
        assert own.owner.post("/start/check", headers=ACTING, json=order).status_code == 400
    for wrong in ({}, {"preset": 1}, {"preset": "fedavg", "settings": "rounds=1"}, {"preset": "x" * 201}, [], "x"):
        assert own.owner.post("/start", headers=ACTING, json=wrong).status_code == 422
    many = {"preset": "fedavg", "settings": ["a=1"] * 101}
    assert own.owner.post("/start", headers=ACTING, json=many).status_code == 422
    for body in (b"", b"{", b"\xff\xfe", b"[" * 60_000, b"null"):
        headers = {**ACTING, "content-type": "application/json"}
        assert own.owner.post("/start", headers=headers, content=body).status_code in {400, 422}
    assert board.actions.jobs == []


def test_all_problems_of_an_order_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as refused:
        checked("fedavg", ["plugins=x.py", "model.factory=a:b", "nonsense"])
    assert {problem.path for problem in refused.value.problems} == {"plugins", "model.factory", "settings"}


def test_a_checked_order_is_the_configuration_that_would_run(own: Visits) -> None:
    order = {"preset": "fedavg", "settings": [*SMALL, "lr=0.25"]}
    answer = own.owner.post("/start/check", headers=ACTING, json=order)
    assert answer.status_code == 200
    import yaml

    config = yaml.safe_load(answer.json()["config"])
    assert (config["rounds"], config["client"]["lr"], config["method"]["name"]) == (2, 0.25, "fedavg")


def test_the_list_has_presets_of_single_runs_only() -> None:
    found = presets()
    assert {"fedavg", "one-shot/ensemble"} <= set(found)
    for name in found:
        load(name)
    assert not any(name.startswith("studies/demo") for name in found)


def test_a_stop_is_a_request_that_the_run_reads(own: Visits, board: Dashboard) -> None:
    written_run(board.store)
    with hold(board.store, RUN):
        answer = own.owner.post(f"/runs/{RUN}/stop", headers=ACTING, json={})
        assert (answer.status_code, answer.json()) == (202, {"run_id": RUN, "action": "stop"})
    assert requested(board.store, RUN) == ["stop"]


@pytest.mark.parametrize("status", ["done", "failed", "stopped"])
def test_what_is_over_cannot_be_stopped_and_what_is_done_not_resumed(
    own: Visits, board: Dashboard, status: str
) -> None:
    written_run(board.store)
    write.finish(board.store, RUN, status)
    assert own.owner.post(f"/runs/{RUN}/stop", headers=ACTING, json={}).status_code == 400
    if status == "done":
        assert own.owner.post(f"/runs/{RUN}/resume", headers=ACTING, json={}).status_code == 400
    assert board.actions.jobs == []


def test_a_run_that_goes_on_is_not_resumed(board: Dashboard) -> None:
    written_run(board.store)
    with hold(board.store, RUN), pytest.raises(ConfigError, match="is running"):
        board.actions.resume(RUN)
    with pytest.raises(NoSuchRun):
        board.actions.resume("nothing")


def job(folder: Path, text: bytes) -> Job:
    log = folder / "1.log"
    log.write_bytes(text)
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait(60)
    return Job(1, "run", process, log)


def test_the_output_of_a_process_has_no_control_characters(tmp_path: Path) -> None:
    made = job(tmp_path, b"\x1b[31mred\x1b[0m \x1b]0;title\x07\x00\x08 line\nnext\ttab \xff")
    assert made.exit_code == 0
    assert made.output == "red ]0;title line\nnext\ttab \ufffd"
    assert len(job(tmp_path, b"x" * 100_000).output) == module.SHOWN


@pytest.mark.parametrize(
    ("text", "run_id"),
    [(b"", None), (b"run fedavg-abc123: 3 clients\n", "fedavg-abc123"), (b"warning\nrun a-1: x\n", "a-1"),
     (b"a run fedavg: no", None), (b'run "><script>: x', None), (b"run ../..: x\n", None)],
)  # fmt: skip
def test_the_id_of_a_started_run_is_what_it_says(tmp_path: Path, text: bytes, run_id: str | None) -> None:
    assert job(tmp_path, text).run_id == run_id


def test_too_many_processes_are_refused(board: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_GOING", 0)
    with pytest.raises(ConfigError, match="are going on"):
        board.actions.start("fedavg", SMALL)
