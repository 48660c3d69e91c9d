"""Charts of a study as SVG files beside its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    return _saved(grid, f"{title} by checkpoint", file)


def against(lines: Mapping[str, Sequence[tuple[str, float]]], title: str, file: str) -> str:
    """Accuracy against a setting: one line per name, through (setting, accuracy) in the order given."""
    order = list(dict.fromkeys(setting for line in lines.values() for setting, _ in line))
    values = [{"line": name, "at": at, "value": value} for name, line in lines.items() for at, value in line]
    chart = alt.Chart(alt.Data(values=values)).mark_line(point=True)
    chart = chart.encode(
        x=alt.X("at:N", sort=order, title=title, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", title="accuracy", axis=alt.Axis(format="~%"), scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("line:N", title=None, sort=list(lines)),
    )
    return _saved(chart.properties(width=420, height=260), f"accuracy against {title}", file)


def scattered(points: Mapping[str, tuple[float, float]], raw: float, file: str) -> str:
    """Accuracy against megabytes that a client sends; a line where its images would be as large."""
    values = [{"what": name, "sent": sent, "value": value} for name, (sent, value) in points.items()]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("sent:Q", title="MB up, a client", scale=alt.Scale(type="log")),
        y=alt.Y("value:Q", title="accuracy", axis=alt.Axis(format="~%"), scale=alt.Scale(zero=False)),
    )
    names = base.mark_text(align="left", dx=7, fontSize=9).encode(text="what:N")
    images = alt.Chart(alt.Data(values=[{"sent": raw, "what": "the client's images"}])).encode(x="sent:Q")
    rule = images.mark_rule(strokeDash=[4, 4]) + images.mark_text(align="left", dx=4, y=10).encode(text="what:N")
    chart = base.mark_point(filled=True, size=60) + names + rule
    return _saved(chart.properties(width=560, height=300), "accuracy against bytes", file)


def _saved(chart: alt.TopLevelMixin, title: str, file: str) -> str:
    path = RESULTS / file
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.save(path)
    return f"![{title}]({Path(file).as_posix()})"
