"""equipoise diagnose"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.options import Json, Language, StoreAt, print_json
from equipoise.cli.shell import offers

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.diagnose.finding import Finding, Verdict

SHOWN = 3
"""Rows of evidence printed per finding."""
STYLES = {"error": "red", "warning": "yellow", "note": "cyan"}


def diagnose(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN…|FILE…",
            help="Runs, or tables of another framework.",
            show_default=False,
            autocompletion=offers.runs,
        ),
    ],
    against: Annotated[
        str | None,
        typer.Option("--against", help="The run to compare with.", show_default=False, autocompletion=offers.runs),
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
    """Explain why a run failed: what was found, for whom and when, the likely cause, and what to change.

    Findings come most severe first, and causes before their consequences. Rules whose inputs were not recorded are
    listed as not examined, never as passed. A file is a long table `run,step,round,client,name,value` as CSV, JSON
    lines or Parquet, or a TensorBoard event file; `equipoise rules` says which names the rules read.

    [bold]Examples[/]

      equipoise diagnose latest

      equipoise diagnose v10-8qc4my --against v9-1r6446

      equipoise diagnose telemetry.csv --set classes=10 --set lam_max=50
    """
    from equipoise.api.diagnose import diagnose_all
    from equipoise.diagnose.foreign import parse_facts, read_names

    facts, changes = parse_facts(settings or [])
    renames = read_names(names) if names is not None else None
    found = diagnose_all(
        targets, against=against, facts=facts, limits=changes, names=renames, language=language.value, store=store
    )
    for text in dict.fromkeys(text for each in found for text in each.left_out):
        typer.echo(f"! {text}", err=True)
    if as_json:
        documents = [{"run": each.name, **each.to_json(), "repairs": list(each.repairs)} for each in found]
        print_json(documents[0] if len(documents) == 1 else documents)
    else:
        from rich.console import Console

        for repair in found[0].repairs if found else ():
            typer.echo(f"! {repair}")
        for each in found:
            print_verdict(Console(highlight=False), each.name, each, language.value)
    if strict and any(each.is_severe for each in found):
        raise typer.Exit(3)


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
