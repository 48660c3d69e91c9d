"""What charts look like, read from the SVG that is made of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import vl_convert

from equipoise.report.draw import draw
from equipoise.report.figure import BarChart, ChartLine, Figure, Heatmap, LineChart
from equipoise.report.words import words

SAY = words("en")
NAMES = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]


def spec(figure: Figure, **changes: Any) -> dict[str, Any]:
    return {**draw(figure, SAY).to_dict(), **changes}


def svg(figure: Figure, **changes: Any) -> str:
    return str(vl_convert.vegalite_to_svg(spec(figure, **changes)))


def texts(picture: str) -> list[str]:
    """Those that are seen: labels without room are there and transparent."""
    found = re.findall(r"<text([^>]*)>([^<]*)</text>", picture)
    return [text for attributes, text in found if ' opacity="0"' not in attributes]


def luminance(colour: str) -> float:
    """Relative luminance of a colour, as the guidelines for accessible content define it."""
    named = {"white": "rgb(255,255,255)", "black": "rgb(0,0,0)"}.get(colour, colour)
    hexed = [int(named[i : i + 2], 16) for i in (1, 3, 5)] if named.startswith("#") else None
    shares = [int(part) / 255 for part in hexed or re.findall(r"\d+", named)]
    linear = [share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def grid(values: list[float], **rest: Any) -> Heatmap:
    place: dict[str, Any] = {"key": "recall", "x": "", "y": "", "columns": NAMES, "rows": ["0"], "measure": ""}
    return Heatmap(values=np.array([values]), **place, **rest)


@pytest.mark.parametrize(
    "figure",
    [
        grid([c / 5 - 1 for c in range(11)], scale="cosine"),
        grid([c / 10 for c in range(11)], is_share=True),
        grid([2.0 * c + 0.5 for c in range(11)]),
        grid([3.0 * c**2 + 1 for c in range(11)], scale="sqrt"),
    ],
    ids=["cosine", "share", "linear", "sqrt"],
)
def test_numbers_on_dark_cells_were_black(figure: Heatmap) -> None:
    picture = svg(figure, width=900)
    cells = re.findall(r'aria-roledescription="rect mark"[^>]*?fill="([^"]+)"', picture)
    numbers = re.findall(r'aria-roledescription="text mark"[^>]*?fill="([^"]+)"', picture)
    assert len(cells) == len(numbers) == 11
    assert set(numbers) == {"black", "white"}
    assert min(contrast(cell, number) for cell, number in zip(cells, numbers, strict=True)) > 4.4


def test_numbers_of_narrow_cells_ran_into_each_other() -> None:
    pictures = [svg(grid([0.123] * 11), width=width) for width in (900, 300, 150)]
    wide, narrow, none = (
        max(map(float, re.findall(r'text mark"[^>]*?font-size="([\d.]+)px"', picture))) for picture in pictures
    )
    assert wide == 10
    assert 6.5 <= narrow < 10
    assert none == 0


STEPS = [101, 102]


def lines(*values: float) -> LineChart:
    return LineChart(key="losses", y="", lines=[ChartLine("a", STEPS, values)], is_log=True)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((1.1, 18.0), ["1", "2", "5", "10", "20"]),
        ((0.2, 70.0), ["0.1", "1", "10", "100"]),
        ((1e-7, 0.09), ["10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]),
        ((0.1, 0.1), ["0.05", "0.1", "0.2"]),
    ],
)
def test_ticks_of_a_logarithmic_axis_were_of_several_kinds(values: tuple[float, ...], ticks: list[str]) -> None:
    """They were 1, 2, 3, 4, 10, 20, … and 0.000001 above 1e-7."""
    shown = [text for text in texts(svg(lines(*values))) if re.match(r"[\d.]", text)]
    assert [text for text in shown if text not in map(str, STEPS)] == ticks


def test_half_of_who_is_served_had_no_label() -> None:
    groups = ("all", "long history", "short history", "popular target", "rare target", "drifted", "steady")
    beside = {"chance": 0.02, "ItemPop": 0.03, "Markov": 0.09}
    figure = BarChart(key="groups", x="", y="hr@10/full", bars=dict.fromkeys(groups, 0.03), bounds=beside)
    assert {*groups, *beside} <= set(texts(svg(figure, width=330)))


def test_bars_show_their_numbers_so_that_zero_is_seen() -> None:
    picture = svg(BarChart(key="gradients", x="", y="norm", bars={"cls": 8.7, "pp": 0.0}))
    assert re.findall(r'"text mark"[^>]*>([^<]*)</text>', picture) == ["8.7", "0"]


def test_the_legend_shows_what_is_dashed() -> None:
    solid, dashed = ChartLine("test", [1, 2], [0.1, 0.2]), ChartLine("validation", [1, 2], [0.2, 0.3], is_dashed=True)
    picture = svg(LineChart(key="accuracy", y="", lines=[solid, dashed]))
    legend = picture[picture.index("role-legend") :]
    assert legend.count('stroke-dasharray="5,4"') == 1


def test_a_legend_has_as_many_columns_as_there_is_room() -> None:
    names = [f"a configuration with a long name {i}" for i in range(4)]
    figure = LineChart(key="overview", y="", lines=[ChartLine(name, [1, 2], [0.1, 0.2]) for name in names])

    def height(room: int) -> float:
        drawn = spec(figure, width=520)
        params = [{**each, "value": room} for each in drawn["params"]]
        found = re.search(r'height="([\d.]+)"', vl_convert.vegalite_to_svg({**drawn, "params": params}))
        assert found is not None
        return float(found.group(1))

    assert all(name in texts(svg(figure)) for name in names)
    assert height(1100) < height(500) < height(250), "one row, two, four"
