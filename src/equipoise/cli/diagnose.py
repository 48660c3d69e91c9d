"""equipoise diagnose"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.options import Json, Language, StoreAt, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.diagnose.finding import Finding, Verdict
    from equipoise.diagnose.recording import Recording

SHOWN = 3
"""Rows of evidence printed of a finding."""
STYLES = {"error": "red", "warning": "yellow", "note": "cyan"}


def diagnose(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="RUN…|FILE…", help="Runs, or tables of another framework.", show_default=False),
    ],
    against: Annotated[
        str | None, typer.Option("--against", help="The run that it is held against.", show_default=False)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A fact (classes=10) or a limit (lr-cut.low=0.1); may be repeated."),
    ] = None,
    names: Annotated[
        Path | None, typer.Option("--map", help="YAML file that renames metrics: theirs: ours.", show_default=False)
    ] = None,
    language: Annotated[Language, typer.Option("--lang", help="Language of the findings.")] = Language.en,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 if there is a warning or an error.")] = False,
    store: StoreAt = None,
    as_json: Json = False,
) -> None:
    """Say why a run failed: what was found, for whom and when, the likely cause, and what to change.

    Findings come most severe first, and causes before what follows from them. Rules whose inputs were not recorded are
    listed as not examined, never as passed. A file is a long table `run,step,round,client,name,value` as CSV, JSON
    lines or Parquet, or a TensorBoard event file; `equipoise rules` says which names the rules read.

    [bold]Examples[/]

      equipoise diagnose latest

      equipoise diagnose v10-8qc4my --against v9-1r6446

      equipoise diagnose telemetry.csv --set classes=10 --set lam_max=50
    """
    from equipoise.diagnose.examine import examine
    from equipoise.diagnose.foreign import parse_facts
    from equipoise.diagnose.stored import MISSING

    facts, changes = parse_facts(settings or [])
    recordings, repairs = _recordings(targets, against, facts, names, store)
    for text in dict.fromkeys(event.message for run in recordings for event in run.events if event.kind == MISSING):
        typer.echo(f"! {text}", err=True)
    verdicts = {run.name: examine(run, changes, language.value) for run in recordings}
    if as_json:
        documents = [{"run": name, **verdict.to_json(), "repairs": repairs} for name, verdict in verdicts.items()]
        print_json(documents[0] if len(documents) == 1 else documents)
    else:
        from rich.console import Console

        for repair in repairs:
            typer.echo(f"! {repair}")
        for name, verdict in verdicts.items():
            print_verdict(Console(highlight=False), name, verdict, language.value)
    severe = any(finding.severity != "note" for verdict in verdicts.values() for finding in verdict.findings)
    if strict and severe:
        raise typer.Exit(3)


def _recordings(
    targets: Sequence[str], against: str | None, facts: Mapping[str, Any], names: Path | None, store: str | None
) -> tuple[list[Recording], list[str]]:
    """Everything that was named, each held against the same run where one is given."""
    from dataclasses import replace

    from equipoise.diagnose.foreign import is_telemetry, read_names, read_table
    from equipoise.diagnose.stored import stored
    from equipoise.store.database import open_existing
    from equipoise.store.read import find_run

    renames = read_names(names) if names is not None else {}
    repairs: list[str] = []

    def load(target: str) -> list[Recording]:
        if is_telemetry(target):
            table = read_table(Path(target), facts, renames)
            repairs.extend(table.repairs)
            return table.runs
        with open_existing(store) as opened:
            found = stored(opened, find_run(opened, target))
        return [replace(found, facts={**found.facts, **facts})]

    reference = load(against)[0] if against is not None else None
    return [replace(run, reference=reference) for target in targets for run in load(target)], repairs


def print_verdict(console: Console, name: str, verdict: Verdict, language: str = "en") -> None:
    from equipoise.diagnose.words import labels

    label, n = labels(language), len(verdict.findings)
    console.print(f"[bold]{name}[/]  {label['found'].format(n=n) if n else label['nothing']}")
    for finding in verdict.findings:
        print_finding(console, finding, label)
    for code, problem in verdict.faults.items():
        console.print(f"! {code}: {problem}", style="yellow", markup=False, soft_wrap=True)
    for key, codes in (("passed", verdict.passed), ("skipped", verdict.not_examined)):
        console.print(label[key].format(codes=", ".join(codes) or label["none"]), style="dim", soft_wrap=True)


def print_finding(console: Console, finding: Finding, label: Mapping[str, str]) -> None:
    from rich.markup import escape

    from equipoise.diagnose.words import evidence, healing

    def say(text: str, style: str | None = None) -> None:
        console.print(escape(text), style=style, soft_wrap=True)

    because = label["follows"].format(codes=", ".join(finding.because)) if finding.because else ""
    head = f"[{STYLES[finding.severity]} bold]{label[finding.severity]}[/] [bold]{finding.code}[/]"
    console.print(f"\n{head}  [dim]{because}[/]" if because else f"\n{head}")
    say(f"  {finding.saw}")
    if finding.healed:
        say(f"  {healing(finding.healed, label)}", "green")
    say(f"  {label['why']}:  {finding.cause}")
    say(f"  {label['try']}:  {finding.remedy}")
    if finding.override:
        say(f"        {finding.override}", "bold")
    for row in finding.evidence[:SHOWN] if len(finding.evidence) > 1 else []:
        say(f"    {evidence(row, label)}", "dim")
