"""Explains why a run failed: a stored run, a table of another framework, or a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from equipoise.api.handle import RunHandle
from equipoise.api.place import StoreAt, existing
from equipoise.core.errors import ConfigError, MissingExtra
from equipoise.diagnose.finding import Verdict

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from equipoise.diagnose.foreign import ForeignRuns
    from equipoise.diagnose.recording import Recording

Target: TypeAlias = "RunHandle | str | Path | pl.DataFrame | pd.DataFrame"
"""A run, its id, a file of telemetry, or a table with the columns name, value, step or round, and client, run."""
FRAME = Path("the frame")


@dataclass(frozen=True)
class Diagnosis(Verdict):
    """A verdict on one run; it renders as HTML in a notebook."""

    name: str = ""
    """The id of the run, or its name in a table."""
    repairs: tuple[str, ...] = ()
    """Corrections that were made while a table was read."""
    language: str = "en"
    """Language of its sentences."""
    left_out: tuple[str, ...] = ()
    """Plugins of the run that are missing here; their rules were not examined."""

    @property
    def is_severe(self) -> bool:
        """Whether there is a finding above the level of a note."""
        return any(finding.severity != "note" for finding in self.findings)

    def __repr__(self) -> str:
        found = ", ".join(f"{each.severity} {each.code}" for each in self.findings) or "nothing found"
        return f"<diagnosis of {self.name}: {found}>"

    def __str__(self) -> str:
        lines = [f"{each.severity} {each.code}: {each.saw}\n  why: {each.cause}\n  try: {each.remedy}"
                 for each in self.findings]  # fmt: skip
        return "\n".join([f"{self.name}: {len(self.findings)} found", *lines])

    def _repr_html_(self) -> str:
        from equipoise.api.cards import diagnosis_card

        return diagnosis_card(self)


def diagnose(
    target: Target,
    *,
    against: Target | None = None,
    facts: Mapping[str, Any] | None = None,
    limits: Mapping[str, Mapping[str, float]] | None = None,
    names: Mapping[str, str] | None = None,
    language: str = "en",
    store: StoreAt = None,
) -> Diagnosis:
    """Explain why a run failed: what was found, for whom and when, the likely cause, and what to change.

    Args:
        target: a run, its id, a file (CSV, JSON lines, Parquet, TensorBoard events), or a polars or pandas frame.
        against: the run to compare with.
        facts: facts that the numbers do not show, as in {"classes": 10}.
        limits: limits of rules to override, as in {"lr-cut": {"low": 0.1}}.
        names: renames metrics of a table, from their names to ours.
        language: "en" or "zh".

    Raises:
        ConfigError: the table holds several runs; `eq.diagnose_all` examines each.
    """
    found = diagnose_all(
        [target], against=against, facts=facts, limits=limits, names=names, language=language, store=store
    )
    if len(found) != 1:
        listed = ", ".join(each.name for each in found[:8])
        raise ConfigError(f"the table holds {len(found)} runs: {listed}", fix="eq.diagnose_all([…]), or filter one")
    return found[0]


def diagnose_all(
    targets: Iterable[Target],
    *,
    against: Target | None = None,
    facts: Mapping[str, Any] | None = None,
    limits: Mapping[str, Mapping[str, float]] | None = None,
    names: Mapping[str, str] | None = None,
    language: str = "en",
    store: StoreAt = None,
) -> list[Diagnosis]:
    """The same for several runs, and for tables of several runs."""
    from equipoise.diagnose.examine import examine
    from equipoise.diagnose.stored import MISSING

    reader = TargetReader(facts or {}, names or {}, store)
    references = reader.load(against).runs if against is not None else []
    tables = [reader.load(target) for target in targets]
    repairs = tuple(repair for table in tables for repair in table.repairs)
    diagnosed = []
    for run in [run for table in tables for run in table.runs]:
        verdict = examine(replace(run, reference=references[0] if references else None), limits, language)
        parts = (verdict.findings, verdict.not_examined, verdict.passed, verdict.faults)
        gone = tuple(event.message for event in run.events if event.kind == MISSING)
        diagnosed.append(Diagnosis(*parts, name=run.name, repairs=repairs, language=language, left_out=gone))
    return diagnosed


@dataclass(frozen=True)
class TargetReader:
    """How to read targets."""

    facts: Mapping[str, Any]
    names: Mapping[str, str]
    store: StoreAt

    def load(self, target: Target) -> ForeignRuns:
        """The recordings in a target, and the corrections that were made."""
        from equipoise.diagnose.foreign import ForeignRuns, is_telemetry, read_frame, read_table

        if isinstance(target, RunHandle):
            return ForeignRuns([self._stored(target.id, target.store)])
        if not isinstance(target, str | Path):
            return read_frame(as_polars(target), FRAME, self.facts, self.names)
        if isinstance(target, Path) or is_telemetry(target):
            return read_table(Path(target), self.facts, self.names)
        return ForeignRuns([self._stored(target, self.store)])

    def _stored(self, run: str, store: StoreAt) -> Recording:
        from equipoise.diagnose.stored import stored
        from equipoise.store.read import find_run

        with existing(store) as opened:
            found = stored(opened, find_run(opened, run))
        return replace(found, facts={**found.facts, **self.facts})


def as_polars(frame: Any) -> pl.DataFrame:
    """A polars frame unchanged, a pandas frame converted to polars."""
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__module__.split(".")[0] != "pandas":
        what = f"expected a run, a file, or a frame of polars or pandas, got {type(frame).__name__}"
        raise ConfigError(what, where="target")
    try:
        return pl.from_pandas(frame)
    except ImportError as error:
        raise MissingExtra(f"reading this pandas frame needs: pip install pyarrow ({error})") from error
