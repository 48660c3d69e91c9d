"""Write docs/reference from the code: commands, the library, configuration, registered names, presets, errors.

    python scripts/write_reference.py            write the pages
    python scripts/write_reference.py --check    exit 1 when a page is stale

What code cannot say is written here: the JSON of each command, exit codes, environment variables. `metrics.md` and
`glossary.md` are written by hand.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import typer

import equipoise
from equipoise.cli import app
from equipoise.cli.rules import described as described_rules
from equipoise.config import aliases, blocks, loader, named, schema
from equipoise.core import errors, registry
from equipoise.core.options import Options

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
GENERATED = "<!-- Written by `make docs` from the code; edit the code, not this page. -->"

EXIT_CODES = [
    ("0", "done"),
    ("1", "the run failed, or a cell of a sweep did"),
    ("2", "the request was wrong: nothing was started"),
    ("3", "`diagnose --strict` found a warning or an error"),
    ("130", "stopped by Ctrl-C or SIGTERM; a run can be resumed"),
]
VARIABLES = [
    ("EQUIPOISE_DATA", "folder of the data sets; `data.path=…` and `--path` come first"),
    ("EQUIPOISE_STORE", "the store, where `--store` is not given"),
    ("EQUIPOISE_BLOBS", "folder of weights beside a PostgreSQL store; default `runs/blobs`"),
    ("EQUIPOISE_CACHE", "folder of decoded images; default `~/.cache/equipoise`"),
    ("EQUIPOISE_MIRROR", "address that `data fetch` takes files from, where `--mirror` is not given"),
]

RUN_JSON = [
    ("run_id", "the run's id"),
    ("name", "what the run is called; ids begin with it"),
    ("status", "`running`, `done`, `failed`, `stopped` or `killed`"),
    ("error", "the message of a failed or stopped run, otherwise null"),
    ("config", "the resolved configuration: every key of [config.md](config.md)"),
    ("headline", "name of the metric that tables show for this method"),
    ("predict", "how the merged thing predicts; where a guard replaced the server, the old one and the new one"),
    ("metrics", "{name: value} of the server at the last checkpoint; see [metrics.md](metrics.md)"),
    ("best", "{step, value, selected_by}: the headline where validation peaks; null before the first score"),
    ("curve", "{steps, values, validation}: the headline and validation over the scored checkpoints"),
    ("stream", "{slices, change}: figures of each scored slice, and what alarms cost; null where nothing is a stream"),
    ("bytes", "{down, up}: all that crossed the network in the whole run"),
    ("partition", "fingerprint of who owned what"),
    ("version", "version of Equipoise that trained it"),
    ("plugins", "[{name, package, version, path, sha256}] of the plugins that the run uses"),
    ("created", "when it began, UTC"),
    ("finished", "when it ended, UTC, or null"),
    ("events", "[{time, kind, step, client, message}], oldest first"),
    ("findings", "what the diagnosis at the end of the run said; as in [diagnose](#equipoise-diagnose)"),
]
COMPARE_JSON = [
    ("against", "label of the row that differences are taken to: the first"),
    ("reductions", "{final, best}: how one number was made of a curve, in words"),
    ("rows", "[{label, metric, runs, seeds, final, best, difference, differs, marks}], in the order of the table"),
    ("rows[].final, rows[].best", "{mean, std, n} over seeds, as shares of one; std is null for one seed"),
    (
        "rows[].difference",
        "{mean, low, high, n, over} of the final values, paired over seeds or users; null for the first row, and for "
        "one common seed where nothing was ranked",
    ),
    ("rows[].differs", "{key: value} of the settings that not all rows share"),
    ("rows[].marks", "codes of the findings that concern the row"),
    ("protocol", "{key: value} of the settings that all rows share, and `partition.fingerprints`"),
    ("findings", "what is wrong with the table as a table; as in [diagnose](#equipoise-diagnose), with `rows`"),
]
SWEEP_JSON = [
    ("sweep", "the name under which `compare --sweep` finds it"),
    ("runs", "run ids, in the order of the grid"),
    ("failed", "[{cell, seed, error}] of the cells that did not finish"),
    ("against, reductions, rows, protocol, findings", "as in `compare`; absent when no cell finished"),
    ("metric", "with `--search`, and so are all below: name of the score, on validation"),
    ("best", "{trial, settings, validation, test, test_metric, runs} of the chosen trial; null if none is done"),
    ("trials", "[{trial, settings, validation, state, seconds, runs, error}], in the order in which they were chosen"),
    ("importance", "{key: share} of how the scores of finished trials differ; empty for too few trials"),
    ("budget", "{trials, done, pruned, failed, seeds, seconds, sampler, pruner, search_seed, window}"),
]
DEMO_JSON = [
    ("stories[].title", "of the three stories"),
    ("stories[].parts[].name", "`skew`, `policies`, `servers`; `healing`; `killing`"),
    ("stories[].parts[].says", "the outcome in a sentence, made from the numbers"),
    ("stories[].parts[].rows", "the numbers, not rounded, even if no table is printed; accuracies as {mean, std, n}"),
    ("stories[].parts[].diagnosed, finding", "of `healing`: the run that was diagnosed, and its first finding"),
    ("report", "the page that was written"),
    ("store", "where the runs are; the killed one is in `demo-killed.db` beside it"),
]
FEATURES_JSON = [
    ("path", "the table that was written"),
    ("items, width", "its rows and columns"),
    ("skipped", "items left out: without text or picture, damaged, or with a row of zeros"),
    ("encoder", "its name; of a file or folder, the last part of the path"),
    ("seconds", "how long this command encoded, without loading the encoder"),
]
IMPORT_JSON = [
    ("run_id", "the run in this store"),
    ("original, tool", "its id at the tool that made it, and which tool that is"),
    ("is_new", "false if the store had it already"),
    ("repairs", "what was corrected while its numbers were read"),
]
JSON: dict[str, list[tuple[str, str]]] = {
    "run": RUN_JSON,
    "import": IMPORT_JSON,
    "resume": RUN_JSON,
    "show": RUN_JSON,
    "sweep": SWEEP_JSON,
    "demo": DEMO_JSON,
    "compare": COMPARE_JSON,
    "federation status": [
        ("[].name", "the machine's name, from its key"),
        ("[].status", "online, offline, or registered: it was never there"),
        ("[].says", "its versions and data, why it takes no part, or that it is late; empty if it was not asked"),
    ],
    "fuse": [
        ("run_id", "the run whose clients were fused"),
        ("servers", "one item per pair of a merge and a predict, in the order given"),
        ("servers[].run_id", "the fused run, which `show` and `compare` take like any other"),
        ("servers[].merge, servers[].predict", "the pair; see [servers](servers.md)"),
        ("servers[].common", "filters or patches: the fixed features of predictors that use such"),
        ("servers[].exchanges", "1, or 2 where the clients are needed a second time"),
        ("servers[].merged, servers[].validation", "accuracy on test and on validation, as shares of one"),
        (
            "servers[].best_client, servers[].probability_ensemble, servers[].probe",
            "what to measure it against, on test",
        ),
    ],
    "diagnose": [
        ("run", "the run; with several, the document is a list of these"),
        ("findings", "most severe first, causes before what follows from them"),
        ("findings[].code, findings[].severity", "the rule, and `note`, `warning` or `error`"),
        ("findings[].clients, findings[].steps", "whom it concerns; first and last checkpoint, counted from 0"),
        ("findings[].evidence", "[{client, steps, …}]: the numbers, strongest first; client null is the server"),
        ("findings[].saw, findings[].cause, findings[].remedy", "a sentence each"),
        ("findings[].override", "the remedy as settings of `equipoise run`; empty where none helps"),
        ("findings[].healed", "where a guard reacted to it: the checkpoint and the settings it changed"),
        ("findings[].because", "codes of findings of the same run that explain this one"),
        ("findings[].rows", "in a comparison, the rows that it concerns; empty otherwise"),
        ("not_examined", "[{code, missing}]: rules whose inputs were not recorded"),
        ("passed", "codes of rules that looked and found nothing"),
        ("repairs", "what was put right while a file was read"),
    ],
    "rules": [
        ("package", "the plugin that brings it, with its version; empty for ours"),
        ("code, severity, when", "its name; how bad; whether it can be asked at the start, live, or at the end"),
        ("failure, signal", "what it names, and the formula"),
        ("reads", "metric names, `fact:x` for what `--set x=…` gives, `reference` for `--against`; a\\|b is either"),
        ("limits", "{name: value}, changed by `--set code.name=value`"),
        ("meanings", "{name: text}: what each limit measures"),
        ("cause", "what a finding says"),
        ("remedies", "[{text, settings}]: what it advises, the first that the run's own settings allow"),
    ],
    "ls": [
        ("run_id, name, status, method, data, seed", "as in `show`; `data` is the name of the set"),
        ("sweep, cell", "the sweep the run belongs to and its label there, or null"),
        ("created, finished, error", "as in `show`"),
        ("steps", "{done, planned}: checkpoints"),
        ("metric, value", "the headline and its newest value, or null"),
        ("fused_from", "the run whose clients a fused run has, or null"),
    ],
    "rm": [
        ("runs", "ids of the runs"),
        ("bytes", "size of the files that no other run needs"),
        ("removed", "false with `--dry-run`"),
    ],
    "gc": [
        ("bytes", "size of the files that no run needs"),
        ("removed", "false with `--dry-run`"),
    ],
    "partition": [
        ("name, clients, samples", "splitter, number of clients, images over all clients"),
        ("fingerprint", "SHA-256 of who owns what"),
        ("disjoint, covering, overlap", "what the check found; `overlap` is the share of images on several clients"),
        ("skew", "{name: value}: [realised skew](../explanation/partitions.md#realised-skew)"),
        (
            "counts",
            "images: one row per client, one column per class; of the first 1000 clients where `skew.counted` says so",
        ),
    ],
    "data list": [
        ("name, summary, kind", "the set, one sentence, and `images`, `tabular rows` or `interactions`"),
        ("holds, size", "what it holds, and how much, in words"),
        ("package", "the plugin that brings it, with its version; empty for ours"),
        ("classes, shape, columns, train, test", "images and tabular rows: what was published of the set"),
        ("users, items, interactions", "interactions: what was published; null where it depends on your file"),
        ("found, where", "whether its files are there, and where: a path, `embedded`, `incomplete: …` or null"),
    ],
    "data check": [
        ("name, kind", "the set, and `images`, `tabular rows` or `interactions`"),
        ("is_complete", "whether all counts are the published ones"),
        ("files", "[{path, bytes, sha256, md5, checksum}]; `checksum` is `matches` or `unknown`"),
        ("classes, shape", "images: class names; channels × height × width"),
        ("splits", "images: {train, test}: {count, published, labels}; `labels` counts images per class"),
        ("range, mean, std", "images: smallest and largest value; mean and deviation per channel of [0, 1]"),
        ("normalises_with", "images: {mean, std} that training uses"),
        ("counts", "interactions: {users, items, interactions}: {count, published}"),
        ("lengths, density", "interactions: {min, median, mean, max} of histories; share of pairs that met"),
        (
            "times",
            "interactions: {first, last, ties}; `ties` is the share of neighbours at one moment; null if unknown",
        ),
        ("split", "interactions: {name, train, validation, test}, or {name, slices} with the size of each slice"),
        ("features", "interactions: {visual, text}: what the check of each named table found"),
        ("notes", "interactions: what the reader and the split dropped, left out or sorted"),
    ],
    "data fetch": [
        ("name", "the set"),
        ("files", "[{path, bytes, is_new}]; `is_new` is false for a file that was there and whole"),
        ("terms", "what the authors of the set ask, where it is known here"),
    ],
    "features text": FEATURES_JSON,
    "features images": FEATURES_JSON,
    "bench": [
        ("name, what", "which benchmark, and what is compared with what"),
        ("ratio, spread", "median over repeats; the smallest and the largest of a repeat"),
        ("ours, theirs, unit", "medians of both sides"),
        ("goal, is_met", "what the ratio is to be, and whether it is"),
        ("figures, tolerance, is_alike", "what both sides came out with, and whether that is the same; null: nothing"),
        ("limit", "the ratio that bare processes reached in the same run; null: not timed"),
        ("note", "what else there is to say"),
    ],
    "doctor": [
        ("version", "of Equipoise"),
        ("green", "whether nothing is broken"),
        ("checkups[].part", "`python`, `packages`, `devices`, `extras`, `store`, `data`, `plugins`, `tools`"),
        ("checkups[].name", "what was looked at: a package, an extra, a device, a data set, a plugin"),
        ("checkups[].state", "`ok`, `note`: something optional is missing, `broken`: something needed does not work"),
        ("checkups[].says", "how it is: version, place, or what is wrong"),
        ("checkups[].fix", "what to type or do; empty where there is nothing to do"),
    ],
    "presets": [
        ("name, summary", "what to type after `run` or `sweep`, and one sentence"),
        ("kind", "`run` or `sweep`"),
        ("command", "the command in the file's first line"),
    ],
    "methods": [
        ("name, aliases, summary", "its name, other accepted names, one sentence"),
        ("package", "the plugin that brings it, with its version; empty for ours"),
        ("answers", "the five answers"),
        ("parameters", "{key: {default, description}} of the settings under `method.`"),
    ],
    "balances": [
        ("name, aliases, summary", "its name, other accepted names, one sentence"),
        ("package", "the plugin that brings it, with its version; empty for ours"),
        ("formula", "what the network sees, what the policy's own parameters see, and λ"),
        ("parameters", "{key: default} of the settings under `balance.`"),
        ("fixed_point", "λ, or where it settles for losses that do not change"),
        ("status", "whether it works, and why not"),
    ],
}
NEEDS = {
    "prototypes": "needs a method with prototypes",
    "batch-norm": "needs a model with BatchNorm",
    "one-model": "needs the merged model alone, and no client's",
    "means": "needs a method that sends class means",
    "second-exchange": "needs the clients a second time: never call it one-shot",
}
"""What the traits of a way to predict mean."""
LISTS = {"bench", "import", "ls", "data list", "presets", "methods", "balances", "rules"}
"""Commands whose JSON is a list; their tables describe one item."""

COMPUTED = {"rounds": "10", "checkpoints": "the smaller of 10 and `client.epochs`"}
"""Defaults that depend on other keys."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing; exit 1 when a page is stale")
    is_check = parser.parse_args().check
    stale = [name for name, text in pages().items() if _current(FOLDER / name) != text]
    if is_check:
        for name in stale:
            print(f"docs/reference/{name} is stale: run `make docs`", file=sys.stderr)
        sys.exit(1 if stale else 0)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (FOLDER / name).write_text(pages()[name], encoding="utf-8")
    print(f"docs/reference: {len(stale)} of {len(pages())} pages written")


def _current(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def pages() -> dict[str, str]:
    """File name → text of every generated page."""
    parts = {
        "commands.md": commands(),
        "api.md": library(),
        "config.md": config(),
        "methods.md": methods(),
        "balances.md": balances(),
        "servers.md": servers(),
        "models.md": named_page(
            "Models",
            registry.MODELS,
            "model",
            "Of images: an encoder and a head. Of histories: a score for every item.",
        ),
        "datasets.md": datasets(),
        "partitions.md": partitions(),
        "presets.md": presets(),
        "rules.md": rules(),
        "errors.md": error_classes(),
    }
    return {name: "\n\n".join([GENERATED, *text]).rstrip() + "\n" for name, text in parts.items()}


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


# commands


def commands() -> Iterator[str]:
    root: Any = typer.main.get_command(app)
    yield "# Commands"
    yield "`--json` prints one document to standard output; progress and messages go to standard error."
    yield table(["exit code", "meaning"], EXIT_CODES)
    yield "`equipoise COMMAND --help` explains a command. Before the command, `--debug` also anywhere:"
    yield table(["option", "what it does"], [[f"`{param.opts[0]}`", param.help] for param in root.params])
    yield table(["variable", "what it names"], [(f"`{name}`", text) for name, text in VARIABLES])
    for name, command in leaves(root):
        yield from _command(name, command)


def leaves(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """("data check", command) of every command, also those in groups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    given = [param for param in command.params if param.param_type_name == "option"]
    usage = " ".join(["equipoise", name, *(_metavar(param) for param in arguments), "[OPTION]…" if given else ""])
    yield f"## equipoise {name}"
    yield f"```text\n{usage.strip()}\n```"
    yield from _help(command.help)
    rows = [[f"`{_metavar(param)}`", _kind(param), _about(param)] for param in arguments]
    rows += [[", ".join(f"`{text}`" for text in param.opts), _kind(param), _about(param)] for param in given]
    yield table(["argument or option", "value", "what it does"], rows)
    if any(param.name == "as_json" for param in given):
        yield from _json(name)


def _json(name: str) -> Iterator[str]:
    if name != "run" and JSON[name] is RUN_JSON:
        yield "`--json` prints the document of [equipoise run](#equipoise-run)."
        return
    yield "Each item of the list that `--json` prints:" if name in LISTS else "What `--json` prints:"
    yield table(["key", "what it holds"], [(_keys(key), text) for key, text in JSON[name]])


def _keys(text: str) -> str:
    return ", ".join(f"`{key}`" for key in text.split(", "))


def _metavar(param: Any) -> str:
    """KEY=VALUE… of a metavar that may bring its own brackets; in brackets where it may be left out."""
    name = re.sub(r"^\[(.*)\]…$", r"\1", param.metavar or param.name.upper())
    repeated = f"{name}…" if param.nargs == -1 else name
    return repeated if param.required else f"[{repeated}]"


def _help(text: str) -> Iterator[str]:
    """Paragraphs as they are; indented examples as one block."""
    plain = re.sub(r"\[/?\w*\]", "", text)
    paragraphs = [part for part in plain.split("\n\n") if part.strip()]
    for is_example, group in groupby(paragraphs, key=lambda part: part.startswith(" ")):
        if is_example:
            yield "```text\n" + "\n".join(part.strip() for part in group) + "\n```"
        else:
            yield from (f"{part}:" if part in {"Example", "Examples"} else part for part in group)


def _kind(param: Any) -> str:
    if getattr(param, "is_flag", False):
        return "–"
    if hasattr(param.type, "choices"):
        return " ".join(f"`{item}`" for item in param.type.choices)
    is_list = getattr(param, "multiple", False) or param.nargs == -1
    words = {"integer": "whole number", "integer range": "whole number", "text": "texts" if is_list else "text"}
    kind, at_least = words.get(param.type.name, param.type.name), getattr(param.type, "min", None)
    return kind if at_least is None else f"{kind} ≥ {at_least}"


def _about(param: Any) -> str:
    default = param.default if param.show_default and not getattr(param, "is_flag", False) else None
    shown = f" Default: `{default}`." if default not in (None, "") else ""
    return re.sub(r"\s+\[default: (.*?)\]$", r" Default: `\1`.", param.help) + shown


# the library

QUOTES = "'"
TYPES = [
    ("Source", "the name of a preset, a YAML file, a mapping of settings, or a `Config`"),
    ("Settings", "a mapping of keys (nested, dotted, or other accepted names), or a list of `key=value` texts"),
    ("StoreAt", "a file or a `postgresql://` URL; None is `EQUIPOISE_STORE`, or `runs/equipoise.db` here"),
    (
        "ProgressOf",
        "None for what suits the place, True, False, or an object with the methods of `api.progress.Follows`",
    ),
    ("AnyRun", "a run, its id, the beginning of one, or `latest`"),
    ("FollowsSweep", "None for what suits the place, True, False, or a function that is called with the cells"),
    ("Page, Form", "`html` or `md`; `svg`, `png`, `pdf`, `latex` or `parquet`"),
    ("Who", "a client's number, `server`, or `everyone`"),
    ("Picture", "a chart of Altair"),
    ("Target", "a run, its id, a file of telemetry, or a frame of polars or pandas"),
]


def library() -> Iterator[str]:
    names = [name for name in equipoise.__all__ if not name.startswith("_")]
    things = {name: getattr(equipoise, name) for name in names}
    yield "# The library"
    yield (
        "`import equipoise as eq` gives what the commands give. Importing it loads neither torch nor pydantic nor"
        " polars. Errors are [our error classes](errors.md); nothing ends the process. What is returned shows itself"
        " in a notebook. A first tour: [in a notebook](../tutorials/in-a-notebook.ipynb). Tables are frames of polars;"
        " `.to_pandas()` needs the extra `pandas`: `pip install 'equipoise[pandas]'`."
    )
    yield "## Words in signatures"
    yield table(["word", "what may stand there"], [(_keys(name), text) for name, text in TYPES])
    for name in names:
        if name.islower():
            yield f"## eq.{name}"
            yield from _callable(f"eq.{name}", things[name])
    for name, thing in things.items():
        if inspect.isclass(thing) and thing.__module__.startswith("equipoise.api"):
            yield from _class(name, thing)
    yield "## Registries"
    yield "What can be chosen by name: `.names()` lists, `.find(name)` gives an entry with its settings and summary."
    rows = [[f"`eq.{name}`", things[name].kind, f"`{things[name].package}`"] for name in names if name.isupper()]
    yield table(["name", "key", "defined in"], rows)
    rest = [f"`{name}`" for name in names if inspect.isclass(things[name]) and "api" not in things[name].__module__]
    yield "## Other names"
    yield f"{', '.join(rest)}: the checked configuration, findings, and [errors](errors.md)."


def _class(name: str, kind: type) -> Iterator[str]:
    yield f"## {name}"
    yield inspect.getdoc(kind) or ""
    members = {key: value for key, value in vars(kind).items() if not key.startswith("_")}
    rows = [[f"`.{key}`", _first(value)] for key, value in members.items() if isinstance(value, property)]
    rows += [[f"`.{key}`", text] for key, text in _fields(kind)]
    if rows:
        yield table(["attribute", "what it is"], sorted(rows))
    for key, value in members.items():
        if inspect.isfunction(value):
            yield f"### {name}.{key}"
            yield from _callable(f".{key}", value)


def _fields(kind: type) -> list[tuple[str, str]]:
    """The fields of a dataclass, with the text that stands below each."""
    found = []
    body = inspect.getsource(kind)
    for key in inspect.get_annotations(kind):
        below = re.search(rf'^    {key}: [^\n]*\n    """(.*?)"""', body, re.DOTALL | re.MULTILINE)
        found.append((key, " ".join(below[1].split()) if below else ""))
    return found


def _first(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def _signature(signature: inspect.Signature, taken: int) -> str:
    """On one line where it fits, otherwise a parameter on each."""
    found, kinds = [], [each.kind for each in signature.parameters.values()]
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and found and "*" not in found and each.VAR_POSITIONAL not in kinds:
            found.append("*")
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is each.empty else f" = {each.default!r}"
        found.append(
            each.name if each.name == "self" else f"{star}{each.name}: {each.annotation.strip(QUOTES)}{default}"
        )
        if each.kind is each.POSITIONAL_ONLY and kinds.count(each.kind) == len(found):
            found.append("/")
    shown = [part for part in found if part != "self"]
    result = f" -> {signature.return_annotation.strip(QUOTES)}"
    line = f"({', '.join(shown)}){result}"
    return line if taken + len(line) <= 110 else "(\n" + "".join(f"    {part},\n" for part in shown) + f"){result}"


def _callable(shown: str, function: Any) -> Iterator[str]:
    """The signature, and the docstring with its arguments as a table."""
    text = _signature(inspect.signature(function), len(shown))
    yield f"```python\n{shown}{text}\n```"
    for part in (inspect.getdoc(function) or "").split("\n\n"):
        title, _, rest = part.partition(":\n")
        if title in {"Args", "Raises"}:
            pairs = re.findall(r"^    (\w+): (.*?)(?=^    \w+: |\Z)", rest, re.DOTALL | re.MULTILINE)
            rows = [[f"`{name}`", " ".join(about.split())] for name, about in pairs]
            yield table(["argument" if title == "Args" else "error", ""], rows)
        else:
            yield f"{title}: {' '.join(rest.split())}" if title == "Returns" else part


# configuration


def config() -> Iterator[str]:
    yield "# Configuration"
    yield (
        "A run is a preset (or a YAML file) and `key=value` settings over it. A key that is not listed here is an"
        " error; all problems are reported at once. `data=x`, `partition=x`, `model=x`, `method=x`, `balance=x` and"
        " `engine=x` are short for `….name=x`. Choosing another name drops the settings that belonged to the old one."
    )
    top = {key: field for key, field in schema.Config.model_fields.items() if key not in {**named.NAMED, **named.PLAIN}}
    yield "## The run"
    yield keys_table("", top)
    yield "`preset: x` in a file puts preset x underneath it. `data.path=…` names the data folder, on the command only."
    for name, options in named.PLAIN.items():
        yield f"## {name}"
        yield options.__doc__ or ""
        yield keys_table(f"{name}.", options.model_fields, CHOSEN)
        yield from _nested(name)
    for name, known in named.NAMED.items():
        yield from _named_block(name, known)
    yield "## Names that are understood"
    yield "These are accepted everywhere and printed in canonical form."
    yield table(
        ["key", "also accepted as"],
        [(f"`{key}`", " ".join(f"`{other}`" for other in others)) for key, others in aliases.SYNONYMS.items()],
    )


def _nested(block: str) -> Iterator[str]:
    """The settings of the named blocks inside of a block."""
    for path, known in named.NESTED.items():
        for entry in known if path.startswith(f"{block}.") else ():
            if own := own_fields(entry.options, blocks.AggregateOptions):
                yield f"With `{path}={entry.name}`:"
                yield keys_table(f"{path}.", own)


CHOSEN = {path: ", ".join(f"`{name}`" for name in known.names()) + " or null" for path, known in named.NESTED.items()}
"""What a named block inside of another can be."""
BLOCKS = {
    "method": blocks.MethodOptions,
    "balance": blocks.BalanceOptions,
    "data": blocks.DataOptions,
    "partition": blocks.PartitionOptions,
    "model": blocks.ModelOptions,
    "engine": blocks.EngineOptions,
}


FAMILIES = {blocks.ImageOptions: "image sets", blocks.InteractionOptions: "sets of interactions"}
"""Settings that many names of a block share, and what these names are."""


def _named_block(name: str, known: registry.Registry[Any]) -> Iterator[str]:
    common = BLOCKS[name]
    yield f"## {name}"
    yield common.__doc__ or ""
    yield keys_table(f"{name}.", common.model_fields, {f"{name}.name": ", ".join(f"`{x}`" for x in known.names())})
    for kind, title in _families(known):
        yield f"With all {title}:"
        yield keys_table(f"{name}.", own_fields(kind, common))
    alike: dict[type[Options], list[str]] = {}
    for entry in known:
        alike.setdefault(entry.options, []).append(entry.name)
    for options, names in alike.items():
        own = own_fields(options, _family(options, common))
        if own:
            yield f"With {', '.join(f'`{name}={other}`' for other in names)}:"
            yield keys_table(f"{name}.", own)


def _families(known: registry.Registry[Any]) -> list[tuple[type[Options], str]]:
    """The families that have a member in this registry."""
    return [pair for pair in FAMILIES.items() if any(issubclass(entry.options, pair[0]) for entry in known)]


def _family(options: type[Options], common: type[Options]) -> type[Options]:
    """What these settings add to: those of a family, otherwise those of the block."""
    return next((kind for kind in FAMILIES if issubclass(options, kind)), common)


def own_fields(options: type[Options], common: type[Options]) -> dict[str, Any]:
    """The settings a named thing has beside those of its block, and those it gives another meaning."""
    shared = {key: field.description for key, field in common.model_fields.items()}
    return {key: field for key, field in options.model_fields.items() if shared.get(key, ...) != field.description}


def keys_table(prefix: str, fields: dict[str, Any], kinds: dict[str, str] | None = None) -> str:
    return table(["key", "type", "default", "range", "what it is"], _rows(prefix, fields, kinds))


def _rows(prefix: str, fields: dict[str, Any], kinds: dict[str, str] | None) -> list[list[str]]:
    rows: list[list[str]] = []
    for key, field in fields.items():
        path = f"{prefix}{key}"
        if isinstance(field.default, Options):
            rows.append([f"`{path}`", "block", "as below", "–", field.description])
            rows += _rows(f"{path}.", type(field.default).model_fields, kinds)
            continue
        kind = (kinds or {}).get(path) or _type(field.annotation)
        default = COMPUTED.get(path) or f"`{'null' if field.default is None else field.default}`"
        rows.append([f"`{path}`", kind, default, _range(field), field.description or "which one"])
    return rows


def _type(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) in {Union, types.UnionType}:
        return " or ".join(_type(part) for part in get_args(annotation))
    if get_origin(annotation) is tuple:
        return f"list of {len(get_args(annotation))} numbers"
    if get_origin(annotation) is list:
        (inner,) = get_args(annotation)
        names = {float: "list of numbers", str: "list of names"}
        return names.get(inner) or ("list of blocks" if issubclass(inner, Options) else "list of names")
    if get_origin(annotation) is dict:
        return "block"
    return {int: "whole number", float: "number", str: "text", bool: "yes or no", types.NoneType: "null"}[annotation]


def _range(field: Any) -> str:
    signs = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
    bounds = [f"{sign} {getattr(m, name)}" for m in field.metadata for name, sign in signs.items() if hasattr(m, name)]
    patterns = [f"`{m.pattern}`" for m in field.metadata if getattr(m, "pattern", None)]
    return ", ".join(bounds + patterns) or "–"


# things with names


def named_page(title: str, known: registry.Registry[Any], block: str, intro: str) -> Iterator[str]:
    """One section per module: what it says of itself, and each name's own settings."""
    yield f"# {title}"
    yield intro
    entries = sorted(known, key=lambda entry: (entry.module, len(entry.name), entry.name))
    for _, group in groupby(entries, key=lambda entry: entry.module):
        yield from _section(list(group), block)


def _section(entries: list[registry.Entry[Any]], block: str) -> Iterator[str]:
    yield "## " + " · ".join(entry.name for entry in entries)
    first, _, rest = entries[0].doc.partition("\n\n")
    yield first
    if rest:
        yield f"```text\n{rest}\n```" if block in {"method", "balance"} else rest
    for entry in entries:
        if entry.aliases:
            yield f"`{entry.name}` is also understood as {', '.join(f'`{alias}`' for alias in entry.aliases)}."
        own = own_fields(entry.options, _family(entry.options, BLOCKS[block]))
        if own:
            yield f"Settings of `{entry.name}`:" if len(entries) > 1 else "Settings:"
            yield keys_table(f"{block}.", own)


def servers() -> Iterator[str]:
    yield "# Servers"
    yield (
        "How the merged thing predicts: `server.predict=NAME`, or `equipoise fuse RUN --predict NAME` on clients that"
        " are trained. By default a method predicts in its own way. Prototypes are merged as `server.merge` says:"
        " `plain` (as published), `unit` (rows of length 1) or `counts` (by the images of the class). Every run of"
        " images scores all servers its model allows: see [metrics](metrics.md). Recommenders rank with the merged"
        " model alone."
    )
    entries = sorted(registry.PREDICTS, key=lambda entry: (entry.module, entry.name))
    for _, group in groupby(entries, key=lambda entry: entry.module):
        same = list(group)
        yield "## " + " · ".join(entry.name for entry in same)
        first, _, rest = same[0].doc.partition("\n\n")
        yield first
        yield f"```text\n{rest}\n```"
        needs = [f"`{entry.name}` {NEEDS[trait]}." for entry in same for trait in sorted(entry.traits)]
        if needs:
            yield " ".join(needs)
    yield "## Merges"
    yield from _listed(registry.AGGREGATES)
    yield "Their settings: [configuration](config.md#server). A method that merges in its own way takes none of them."


def _listed(known: registry.Registry[Any]) -> Iterator[str]:
    """What the light file that declares them says of them."""
    (doc,) = {entry.doc for entry in known}
    first, _, rest = doc.partition("\n\n")
    yield first
    yield f"```text\n{rest}\n```"


def methods() -> Iterator[str]:
    intro = (
        "A method is five answers: what is base, what is align, who chooses λ, how the server merges, how the merged"
        " thing predicts. `cls` is the cross-entropy of the labels. Any method runs with `communication=rounds` and"
        " with `communication=one-shot`; see [one-shot and rounds](../explanation/one-shot-and-rounds.md)."
    )
    yield from named_page("Methods", registry.METHODS, "method", intro)
    yield "## Terms"
    yield from _listed(registry.TERMS)


def balances() -> Iterator[str]:
    intro = (
        "Who chooses λ: `balance=x`, with a method that leaves that answer open, such as `etf-align`. L_b is base, L_a"
        " is align, a = log σ²_b, b = log σ²_a, λ = e^{a−b} where it is learned, sg stops the gradient, p is the"
        " progress of the whole run, and s(p) a schedule: none 1, linear 1 − p, cosine ½(1 + cos πp). λ* is where a"
        " learned λ settles for losses that do not change. How to add one: [add a λ policy](../howto/add-a-policy.md)."
    )
    yield from named_page("λ policies", registry.BALANCES, "balance", intro)


def datasets() -> Iterator[str]:
    intro = (
        "How to bring files: [bring your data](../howto/data.md). One-channel images are repeated to three before"
        " the network sees them. The CIFAR-100 and SVHN readers were tested on archives written in the original"
        " layout, because no real copy was at hand. [All image sets](#all-image-sets) share settings, and so do [all"
        " sets of interactions](#all-sets-of-interactions)."
    )
    yield from named_page("Datasets", registry.DATASETS, "data", intro)
    for kind, title in _families(registry.DATASETS):
        yield f"## All {title}"
        yield kind.__doc__ or ""
        yield keys_table("data.", own_fields(kind, blocks.DataOptions))
    yield "## Facts and files"
    yield from _facts()


def _facts() -> Iterator[str]:
    """A table of the image sets and one of the sets of interactions."""
    from equipoise.data.known import KNOWN, KnownImages, KnownInteractions
    from equipoise.kind.check import known_of

    images, interactions = [], []
    for entry in registry.DATASETS:
        name, known, places = entry.name, known_of(entry), _places(entry.name)
        if isinstance(known, KnownImages):
            shape = "×".join(map(str, known.shape or "–"))
            counts = "–" if known.train is None else f"{known.train} + {known.test}"
            images.append([f"`{name}`", str(known.n_classes or "–"), shape, counts, places])
        elif isinstance(known, KnownInteractions):
            sizes = [str(count or "–") for count in (known.users, known.items, known.interactions)]
            interactions.append([f"`{name}`", *sizes, places])
    yield table(["set", "classes", "shape", "train + test", "files looked for"], images)
    yield table(["set", "users", "items", "interactions", "files looked for"], interactions)
    terms = {known.terms for known in KNOWN.values() if known.terms}
    yield " ".join(f"Terms: {text}." for text in sorted(terms))


def _places(name: str) -> str:
    from equipoise.data.source import SOURCES

    traits = registry.DATASETS.find(name).traits
    if "own-file" in traits:
        return "the one that `data.file` names"
    if "own-folder" in traits:
        return "those of the folder that `data.folder` names"
    return ", ".join(f"`{place}`" for place in SOURCES[name].places) if name in SOURCES else "none: embedded"


def partitions() -> Iterator[str]:
    intro = (
        "Who owns which training image. All take `partition.clients` and `partition.min_size`. How they differ, what"
        " is checked and how skew is measured: [partitions](../explanation/partitions.md)."
    )
    yield from named_page("Partitions", registry.SPLITTERS, "partition", intro)


def presets() -> Iterator[str]:
    yield "# Presets"
    yield "`equipoise presets` lists them, `equipoise presets NAME` prints one. All run on embedded data."
    for name in loader.preset_names():
        text = (loader.PRESETS / f"{name}.yaml").read_text(encoding="utf-8")
        summary, _, command = text.splitlines()[0].lstrip("# ").partition("   ")
        yield f"## {name}"
        yield f"{summary} `{command.strip()}`"
        yield "```yaml\n" + "\n".join(text.splitlines()[1:]) + "\n```"


def rules() -> Iterator[str]:
    yield "# Rules"
    yield (
        "What `equipoise diagnose` looks for. A rule reads recorded numbers only, so it works on a stored run and on"
        " [another framework's table](../howto/diagnose.md). *When*: `start` before training, `live` at every"
        " checkpoint, `end` of a whole run, `compare` of a table of runs (in `compare` and `sweep`). Reads:"
        " [metric names](metrics.md); `fact:x` is known of a stored run or given as `--set x=…`; `reference` is"
        " `--against RUN`, `table` the rows of a comparison; a\\|b is either. A rule without what it reads is not"
        " examined. Of the remedies the first is advised that the run can take and does not have already; `{server}` is"
        " the recorded way to predict that is best on validation."
    )
    found = list(described_rules())
    rows = [
        [f"[{each['code']}](#{each['code']})", each["severity"], ", ".join(each["when"]), each["failure"]]
        for each in found
    ]
    yield table(["code", "severity", "when", "failure"], rows)
    for each in found:
        yield f"## {each['code']}"
        yield each["failure"]
        yield f"```text\n{each['signal']}\n```"
        limits = "; ".join(f"`{name}` {value:g}: {each['meanings'][name]}" for name, value in each["limits"].items())
        remedies = [f"{one['text']}{_coded(one['settings'])}" for one in each["remedies"]]
        rows = [
            ["reads", ", ".join(f"`{need}`" for need in each["reads"])],
            ["limits", limits or "none"],
            ["cause", each["cause"]],
            *([name, text] for name, text in zip(["remedy", *["or"] * len(remedies)], remedies, strict=False)),
        ]
        yield table(["", ""], rows)


def _coded(settings: str) -> str:
    return f" `{settings}`" if settings else ""


def error_classes() -> Iterator[str]:
    yield "# Errors"
    yield (errors.__doc__ or "").strip().split("\n", 1)[0]
    tree = (errors.__doc__ or "").split("\n\n")[1]
    yield "```text\n" + "\n".join(line.removeprefix("    ") for line in tree.splitlines()) + "\n```"
    yield (
        "A message has three parts: what happened, with the values; where; what to do next. The traceback is shown"
        " with `--debug`. An error that is none of these is a bug: it ends with exit code 1."
    )
    rows = [[f"`{kind.__name__}`", f"`{kind.__mro__[1].__name__}`", str(kind.exit_code)] for kind in known_errors()]
    yield table(["error", "is a", "exit code"], rows)


def known_errors() -> list[type[errors.EquipoiseError]]:
    """Every error class of the product, each after the one it is derived from."""
    for found in pkgutil.walk_packages(equipoise.__path__, "equipoise."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)

    def below(kind: type[errors.EquipoiseError]) -> Iterator[type[errors.EquipoiseError]]:
        for child in kind.__subclasses__():
            if child.__module__.startswith("equipoise."):
                yield child
                yield from below(child)

    return list(below(errors.EquipoiseError))


if __name__ == "__main__":
    main()
