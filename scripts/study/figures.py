"""Charts of a study as SVG files beside its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import altair as alt
import polars as pl
from scripts.study.page import RESULTS
from scripts.study.read import Study

SIZE = {"width": 190, "height": 150}


def curves(study: Study, labels: Sequence[str], names: dict[str, str], file: str, title: str = "accuracy") -> str:
    """One panel per label: shares `names` (metric → what it is called) of the server, mean over seeds."""
    wanted = pl.col("label").is_in(list(labels)) & pl.col("name").is_in(list(names)) & pl.col("client").is_null()
    found = study.rows.filter(wanted).with_columns(
        pl.col("name").replace(names).alias("figure"), (pl.col("step") + 1).alias("checkpoint")
    )
    return _panels(found, labels, title, file, log=False)


def together(study: Study, name: str, what: str, file: str, title: str) -> str:
    """One panel: a share of the server, called `what`, with a line per label; mean over seeds."""
    found = study.rows.filter(pl.col("name") == name, pl.col("client").is_null()).with_columns(
        pl.col("label").alias("figure"), (pl.col("step") + 1).alias("checkpoint")
    )
    return _panels(found.with_columns(pl.lit(what).alias("label")), [what], title, file, log=False)


def client_curves(study: Study, labels: Sequence[str], name: str, title: str, file: str) -> str:
    """One panel per label: a metric of every client of the first seed."""
    wanted = pl.col("label").is_in(list(labels)) & (pl.col("name") == name) & pl.col("client").is_not_null()
    found = study.rows.filter(wanted, pl.col("seed") == study.seeds[0]).with_columns(
        pl.format("client {}", "client").alias("figure"), (pl.col("step") + 1).alias("checkpoint")
    )
    return _panels(found, labels, title, file, log=True)


def _panels(rows: pl.DataFrame, labels: Sequence[str], title: str, file: str, log: bool) -> str:
    scale = alt.Scale(type="log") if log else alt.Scale(zero=False)
    axis = alt.Axis(format="~s" if log else "~%")
    means = rows.group_by("label", "figure", "checkpoint").agg(pl.col("value").mean()).sort("checkpoint")
    base = alt.Chart(alt.Data(values=means.to_dicts())).mark_line(point=True)
    chart = base.encode(
        x=alt.X("checkpoint:Q", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("value:Q", title=title, scale=scale, axis=axis),
        color=alt.Color("figure:N", title=None),
    ).properties(**SIZE)
    grid = chart.facet(facet=alt.Facet("label:N", title=None, sort=list(labels)), columns=4)
    path = RESULTS / file
    path.parent.mkdir(parents=True, exist_ok=True)
    grid.save(path)
    return f"![{title} by checkpoint]({Path(file).as_posix()})"
