"""Code of a notebook or a script: what is shipped runs by itself elsewhere, and does nothing else there.

Notebooks are imitated: cells are compiled under a name that linecache knows, and run in `__main__`, as IPython does.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NOTEBOOK = """
import linecache, sys
import __main__
In = vars(__main__).setdefault("In", [""])

def cell(number, text):
    name = f"<ipython-input-{number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    In.append(text)
    exec(compile(text, name, "exec"), vars(__main__))

def config(*settings):
    from equipoise.config.loader import load
    return load("fedavg", list(settings)).config
"""


def notebook(folder: Path, *parts: str) -> subprocess.CompletedProcess[str]:
    """Runs cells from a module that is not `__main__`, as a kernel is none."""
    (folder / "kernel.py").write_text("\n".join([NOTEBOOK, *parts]))
    return run(folder, "import kernel")


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(text)
    return subprocess.run([sys.executable, str(script)], cwd=folder, capture_output=True, text=True, check=False)


METHOD = '''
@METHODS.register("celled")
def celled(options):
    """A method of a notebook."""
    return Method(objective=objective({"cls": weighted}))
'''
CELLS = f"""
cell(1, "from equipoise.core.registry import METHODS\\nfrom equipoise.method.answers import Method\\nimport torch as t")
cell(2, "from equipoise.objective.compose import objective\\nW = 0.5\\nprint('ran once')")
cell(3, "def weighted(view):\\n    return W * t.nn.functional.cross_entropy(view.logits, view.labels)")
cell(4, {METHOD!r})
"""


def test_what_a_method_needs_from_other_cells_comes_with_it_and_nothing_else(tmp_path):
    said = notebook(tmp_path, CELLS, "print(config('method=celled').plugins[0].source)")
    assert said.returncode == 0, said.stderr
    assert said.stdout.count("ran once") == 1
    lines = [line for line in said.stdout.splitlines() if line]
    assert {"import torch as t", "W = 0.5", "def weighted(view):", "def celled(options):"} <= set(lines)
    assert not any("print" in line for line in lines)


def test_the_source_runs_in_another_process_that_has_no_notebook(tmp_path):
    """The configuration is all that a worker, a sweep's cell and a resumed run get."""
    dump = "import json; open('config.json', 'w').write(json.dumps(config('method=celled').model_dump()))"
    assert notebook(tmp_path, CELLS, dump).returncode == 0
    read = """
import json
from equipoise.config.check import check
from equipoise.method.resolve import resolve
config = check(json.load(open("config.json")))
print(resolve(config).objective.base.keys(), config.plugins == check(config.model_dump()).plugins, config.fingerprint())
"""
    here = notebook(tmp_path, CELLS, "print(config('method=celled').fingerprint())")
    there = run(tmp_path, read)
    assert there.returncode == 0, there.stderr
    assert "dict_keys(['cls']) True" in there.stdout
    assert there.stdout.split()[-1] == here.stdout.split()[-1]


def test_a_cell_that_is_run_again_replaces_what_it_defined(tmp_path):
    again = (
        "cell(5, In[4].replace('{\"cls\"', '{\"other\"')); print(list(resolve(config('method=celled')).objective.base))"
    )
    first = "from equipoise.method.resolve import resolve\nbefore = config('method=celled').fingerprint()"
    said = notebook(tmp_path, CELLS, first, again, "print(config('method=celled').fingerprint() != before)")
    assert said.stdout.splitlines()[-2:] == ["['other']", "True"], said.stderr


def test_a_changed_notebook_is_not_what_a_stored_run_began_with(tmp_path):
    """Rather an error than a resumed run with other code."""
    steps = """
from equipoise.config.check import check
stored = config('method=celled').model_dump()
check(stored)
cell(5, In[4].replace('{"cls"', '{"other"'))
try:
    check(stored)
except Exception as error:
    print(type(error).__name__, error.what)
"""
    said = notebook(tmp_path, CELLS, steps)
    assert said.stdout.splitlines()[-1] == "PluginError method 'celled' is registered twice", said.stderr


USES = """
from equipoise.core.registry import METHODS
{text}

@METHODS.register("m")
def m(options):
    return big
"""


def test_a_plain_value_is_shipped_as_it_is_now(tmp_path):
    text = USES.format(text="big = {}\nfor k in range(3):\n    big[k] = k")
    said = notebook(tmp_path, f"cell(1, {text!r})", "print(config('method=m').plugins[0].source)")
    assert "big = {0: 0, 1: 1, 2: 2}" in said.stdout, said.stderr


def test_what_cannot_be_shipped_is_said_before_anything_runs(tmp_path):
    text = USES.format(text="for big in [object()]:\n    pass")
    said = notebook(tmp_path, f"cell(1, {text!r})", "config('method=m')")
    assert "uses 'big', whose definition cannot be found" in said.stderr


def test_code_without_source_cannot_be_shipped(tmp_path):
    code = "from equipoise.core.registry import METHODS\nMETHODS.register('m')(lambda options: None)\n"
    ask = "from equipoise.config.loader import load\nload('fedavg', ['method=m'])"
    said = subprocess.run([sys.executable, "-c", code + ask], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "the source of method 'm' cannot be read" in said.stderr
    assert "plugins=file.py" in said.stderr


def test_a_script_that_starts_a_run_ships_the_method_and_not_the_run(tmp_path):
    script = """
from equipoise.core.registry import METHODS
from equipoise.method.answers import Method
from equipoise.config.loader import load

def add(name):
    @METHODS.register(name)
    def made(options):
        return Method()

add("mine")
found = load("fedavg", ["method=mine"]).config
print(found.plugins[0].source)
"""
    said = run(tmp_path, script)
    assert said.returncode == 0, said.stderr
    assert "add('mine')" in said.stdout
    assert "load(" not in said.stdout
