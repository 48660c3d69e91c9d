"""equipoise new"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from equipoise.core.errors import ConfigError, Problem

TEMPLATE = Path(__file__).parent / "template"
RULE = """ill, well = (testing.recording_of(server={{"accuracy/merged": [value]}}) for value in (0.5, 0.999))
    testing.check_rule("{name}-modest", ill, well)"""
KINDS: Mapping[str, tuple[str, str, str]] = {
    "method": ("a method", "method: {name}", 'testing.check_method("{name}")'),
    "policy": ("a λ policy", "balance: {name}", 'testing.check_policy("{name}")'),
    "merge": ("a merge", "server: {{aggregate: {name}}}", 'testing.check_merge("{name}")'),
    "predictor": ("a way to predict", "server: {{predict: {name}}}", 'testing.check_predictor("{name}")'),
    "term": ("a term of the local loss", "client: {{terms: {{{name}: 0.1}}}}", 'testing.check_term("{name}")'),
    "model": ("a model", "model: {name}", 'testing.check_model("{name}", "model.width=4")'),
    "data": ("a data set", "data: {name}", 'testing.check_dataset("{name}")'),
    "splitter": ("a splitter", "partition: {{name: {name}, clients: 3}}", 'testing.check_splitter("{name}")'),
    "kind": ("a kind of data, with a set of its own", "", 'testing.check_kind("{name}", "{name}-signals")'),
    "engine": ("an engine", "engine: {name}", 'testing.check_engine("{name}")'),
    "rule": ("a rule of the diagnosis", "", RULE),
}
"""Kind → what it is, its line of the preset, its test."""

app = typer.Typer(name="new", no_args_is_help=True, help="Create something of your own.")


@app.callback()
def _new() -> None:
    """Keeps `plugin` a subcommand although it is the only one."""


@app.command()
def plugin(
    name: Annotated[str, typer.Argument(help="Name of the package and its things: small letters, digits and dashes.")],
    kinds: Annotated[
        str, typer.Option("--with", help=f"Kinds to include, separated by commas: {', '.join(KINDS)}; or all.")
    ] = "method",
    folder: Annotated[Path | None, typer.Option("--into", help="Where to create it; default: here.")] = None,
) -> None:
    """Write a small plugin package: working examples of the kinds you choose, tests and a README.

    [bold]Examples[/]

      equipoise new plugin acme

      equipoise new plugin acme --with method,model,data,policy,merge,splitter,rule
    """
    chosen = _chosen(kinds)
    module = _module(name)
    package = (folder or Path()) / name
    if package.exists():
        raise ConfigError(f"there is something at {package} already", fix="choose another name, or another --into")
    try:
        for path, text in files(name, module, chosen).items():
            (package / path).parent.mkdir(parents=True, exist_ok=True)
            (package / path).write_text(text, encoding="utf-8")
    except OSError as error:
        shutil.rmtree(package, ignore_errors=True)
        raise ConfigError(f"cannot write {package}: {error}", fix="choose another --into") from error
    typer.echo(f"{package}: {', '.join(chosen)}\ninstall it with: pip install -e {package}")


def _chosen(kinds: str) -> list[str]:
    from equipoise.core.registry import suggestion

    asked = list(KINDS) if kinds == "all" else [kind.strip() for kind in kinds.split(",")]
    unknown = [kind for kind in asked if kind not in KINDS]
    if unknown:
        message = "there is no such thing to begin"
        raise ConfigError([Problem(f"--with {kind}", f"{message}{suggestion(kind, list(KINDS))}") for kind in unknown])
    return [kind for kind in KINDS if kind in asked]


def _module(name: str) -> str:
    """The name as Python writes it; refused if it cannot be one, or is taken."""
    if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", name):
        fix = "small letters, digits, dashes and underscores, as in acme-merges"
        raise ConfigError(f"'{name}' cannot be the name of a package", where="NAME", fix=fix)
    module = name.replace("-", "_")
    if find_spec(module) is not None:
        raise ConfigError(f"there is a module '{module}' already", where="NAME", fix="choose another name")
    return module


def files(name: str, module: str, kinds: Sequence[str]) -> dict[str, str]:
    """Path within the package → its text."""
    words = {
        "name": name,
        "module": module,
        "title": name.replace("-", " ").title(),
        "modules": ", ".join(sorted(kinds)),
        "quoted": ", ".join(f'"{kind}"' for kind in sorted(kinds)),
        "list": "\n".join(f"* {KINDS[kind][0]}: `src/{module}/{kind}.py`" for kind in kinds),
    }

    def filled(template: str) -> str:
        text = (TEMPLATE / f"{template}.txt").read_text(encoding="utf-8")
        return re.sub(r"\{\{(\w+)\}\}", lambda place: words[place[1]], text)

    tests = [f"\n\ndef test_{kind}() -> None:\n    {KINDS[kind][2].format(name=name)}\n" for kind in kinds]
    source = f"src/{module}"
    return {
        "pyproject.toml": filled("pyproject.toml"),
        "README.md": filled("README.md"),
        f"{source}/__init__.py": filled("init.py"),
        **{f"{source}/{kind}.py": filled(f"{kind}.py") for kind in kinds},
        f"{source}/presets/small.yaml": preset(name, kinds),
        "tests/test_contract.py": "".join([filled("test_contract.py"), *tests]),
    }


def preset(name: str, kinds: Sequence[str]) -> str:
    """A preset that uses everything in the package; a policy needs a method that leaves λ open."""
    lines = [
        KINDS[kind][1].format(name=name) for kind in kinds if KINDS[kind][1] and kind not in {"merge", "predictor"}
    ]
    server = [f"{key}: {name}" for kind, key in (("merge", "aggregate"), ("predictor", "predict")) if kind in kinds]
    method = ["method: etf-align"] if "policy" in kinds and "method" not in kinds else []
    if "policy" in kinds and "method" not in kinds and "merge" in kinds:
        server = [line for line in server if not line.startswith("aggregate")]  # etf-align has a merge of its own
    both = [f"server: {{{', '.join(server)}}}"] if server else []
    head = f"# A small run with what {name} brings.   equipoise run {name}/small"
    return "\n".join([head, "preset: fedavg", f"name: {name}", "rounds: 3", *method, *lines, *both]) + "\n"
