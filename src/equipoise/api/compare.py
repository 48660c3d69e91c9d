"""Compares runs: mean ± deviation over seeds, final and best by validation, paired differences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from equipoise.api.choose import AnyRun, chosen_runs, named
from equipoise.api.place import StoreAt, existing

if TYPE_CHECKING:
    import polars as pl

    from equipoise.diagnose.finding import Finding
    from equipoise.report.comparison import Comparison


@dataclass(frozen=True)
class ComparisonTable:
    """One row per configuration, over its seeds; differences are to the first row."""

    comparison: Comparison
    """The figures themselves, with the protocol that all rows share."""

    def table(self) -> pl.DataFrame:
        """One row per configuration; shares of one, bytes of one run."""
        import polars as pl

        rows = [_row(asdict(line)) for line in self.comparison.lines]
        numbers = {name: pl.Float64 for name in rows[0] if name.startswith(("final_", "best_", "difference_"))}
        return pl.DataFrame(rows, schema_overrides=numbers)

    @property
    def findings(self) -> list[Finding]:
        """Findings about the table as a whole."""
        return list(self.comparison.findings)

    def to_markdown(self) -> str:
        """The table with its protocol and the runs behind each row."""
        from equipoise.report.table import markdown

        return markdown(self.comparison)

    def to_latex(self) -> str:
        """A tabular for booktabs."""
        from equipoise.report.table import latex

        return latex(self.comparison)

    def to_csv(self) -> str:
        """One line per configuration, shares of one."""
        from equipoise.report.table import as_csv

        return as_csv(self.comparison)

    def to_json(self) -> dict[str, Any]:
        """The document of `equipoise compare --json`."""
        return self.comparison.to_json()

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        from equipoise.api.cards import comparison_card

        return comparison_card(self)


def _row(line: dict[str, Any]) -> dict[str, Any]:
    """A line of a comparison as one flat row."""
    flat: dict[str, Any] = {"configuration": line["label"], "metric": line["metric"], "n": line["final"]["n"]}
    for name in ("final", "best"):
        flat |= {f"{name}_mean": line[name]["mean"], f"{name}_std": line[name]["std"]}
    difference = line["difference"] or {}
    flat |= {f"difference_{key}": difference.get(key) for key in ("mean", "low", "high")}
    return flat | {"bytes_up": line["up"], "bytes_down": line["down"], "runs": list(line["runs"])}


def compare(
    runs: AnyRun | Iterable[AnyRun] | None = None,
    *,
    sweep: str | None = None,
    metric: str | None = None,
    store: StoreAt = None,
) -> ComparisonTable:
    """Compare runs: mean ± deviation over seeds, final and best by validation, paired differences.

    Runs that differ only in their seed share a row. "Best" is chosen on the validation split, never on test.

    Args:
        runs: runs or their ids.
        sweep: all finished runs of this sweep, under its labels.
        metric: a share on test; the headline of each run unless given.
    """
    from equipoise.report.comparison import compare as side_by_side
    from equipoise.report.runs import compared

    ids, place = named(runs, store)
    with existing(place) as opened:
        chosen = chosen_runs(opened, ids, sweep)
        return ComparisonTable(side_by_side(compared(opened, chosen.runs, chosen.labels, metric)))
